#include "tile_ir/assembly.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>

#include "common/check.h"

namespace tilegym::tile_ir {

namespace {

struct Row {
  Opcode opcode;
  std::string_view result_names;
  std::string_view text;
};

constexpr Row kRows[] = {
#define TILE_IR_ASSEMBLY(identifier, result_names, text) {Opcode::identifier, result_names, text},
#include "tile_ir/assembly.def"
#undef TILE_IR_ASSEMBLY
};

constexpr std::string_view kCustomNames[] = {
    "induction_variable", "iteration_values", "body",  "else_body", "argument_body", "if_results",
    "loop_types",         "index_types",      "shape", "strides",   "dynamic_type"};

constexpr std::size_t kOpcodes = 0x76;

constexpr bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

AttrName attribute_of(const OpSpec& spec, std::string_view word) {
  const auto* found = std::ranges::find(spec.attributes, word, [](const AttrSpec& row) { return name(row.name); });
  TILEGYM_CHECK(found != spec.attributes.end());
  return found->name;
}

std::size_t group_of(const OpSpec& spec, std::string_view word) {
  std::size_t index = 0;
  while (index < spec.operands.size() && spec.operands[index].name != word) ++index;
  return index;
}

std::size_t known_group(const OpSpec& spec, std::string_view word) {
  const std::size_t index = group_of(spec, word);
  TILEGYM_CHECK(index < spec.operands.size());
  return index;
}

/// Takes a row's text apart.
class Parser {
 public:
  Parser(const Row& row, const OpSpec& spec) : text_(row.text), spec_(spec) {}

  void run(Assembly& out) {
    out_ = &out;
    while (!text_.empty()) {
      if (text_.front() == '{') {
        conditional();
      } else {
        part({.condition = Condition::always});
      }
    }
  }

 private:
  void conditional() {
    text_.remove_prefix(1);
    const std::string_view word = take_word();
    Part part_head{.condition = Condition::has_attribute};
    if (const std::size_t group = group_of(spec_, word); group < spec_.operands.size()) {
      part_head.condition = Condition::has_operands;
      part_head.index = group;
    } else {
      part_head.attribute = attribute_of(spec_, word);
    }
    if (text_.front() == '!') {
      text_.remove_prefix(1);
      const std::string_view number = take_word();
      std::from_chars(number.data(), number.data() + number.size(), part_head.value);
      part_head.condition = Condition::differs;
    }
    TILEGYM_CHECK(text_.front() == '|');
    text_.remove_prefix(1);
    part(part_head);
    TILEGYM_CHECK(text_.front() == '}');
    text_.remove_prefix(1);
  }

  void part(Part head) {
    head.begin = out_->pieces.size();
    while (!text_.empty() && text_.front() != '{' && text_.front() != '}') piece();
    head.end = out_->pieces.size();
    out_->parts.push_back(head);
  }

  void piece() {
    const char sign = text_.front();
    if (!is_sign(sign)) return literal();
    text_.remove_prefix(1);
    if (sign == '@') return types();
    const std::string_view word = take_word();
    if (sign == '$') {
      add({.kind = PieceKind::operands, .index = known_group(spec_, word)});
    } else if (sign == '#') {
      add({.kind = PieceKind::attribute, .attribute = attribute_of(spec_, word)});
    } else {
      const auto* found = std::ranges::find(kCustomNames, word);
      TILEGYM_CHECK(found != std::end(kCustomNames));
      add({.kind = PieceKind::custom, .custom = static_cast<Custom>(found - std::begin(kCustomNames))});
    }
  }

  void types() {
    if (text_.front() == '*') {
      text_.remove_prefix(1);
      return add({.kind = PieceKind::result_types});
    }
    const std::string_view word = take_word();
    if (word.front() >= '0' && word.front() <= '9') {
      return add({.kind = PieceKind::result_type, .index = static_cast<std::size_t>(word.front() - '0')});
    }
    add({.kind = PieceKind::operand_types, .index = known_group(spec_, word)});
  }

  void literal() {
    const std::size_t size = static_cast<std::size_t>(
        std::ranges::find_if(text_, [](char c) { return is_sign(c) || c == '{' || c == '}'; }) - text_.begin());
    add({.kind = PieceKind::literal, .text = text_.substr(0, size)});
    text_.remove_prefix(size);
  }

  static constexpr bool is_sign(char c) { return c == '$' || c == '@' || c == '#' || c == '%'; }

  std::string_view take_word() {
    std::size_t size = 0;
    while (size < text_.size() && is_word(text_[size])) ++size;
    TILEGYM_CHECK(size > 0);
    const std::string_view word = text_.substr(0, size);
    text_.remove_prefix(size);
    return word;
  }

  void add(Piece piece) { out_->pieces.push_back(piece); }

  std::string_view text_;
  const OpSpec& spec_;
  Assembly* out_ = nullptr;
};

std::vector<std::string_view> split(std::string_view names) {
  std::vector<std::string_view> parts;
  if (names.empty() || names == "-" || names == "=") return parts;
  while (true) {
    const std::size_t comma = names.find(',');
    parts.push_back(names.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    names.remove_prefix(comma + 1);
  }
}

std::vector<Assembly> parse_rows() {
  std::vector<Assembly> table(kOpcodes);
  for (const Row& row : kRows) {
    const OpSpec* spec = find_op(static_cast<std::uint64_t>(row.opcode));
    TILEGYM_CHECK(spec != nullptr);
    Assembly& entry = table[static_cast<std::size_t>(row.opcode)];
    entry.result_names = split(row.result_names);
    entry.names_results = !row.result_names.empty();
    Parser(row, *spec).run(entry);
  }
  return table;
}

}  // namespace

const Assembly& assembly(Opcode opcode) {
  static const std::vector<Assembly> table = parse_rows();
  const auto index = static_cast<std::size_t>(opcode);
  TILEGYM_CHECK(index < table.size());
  return table[index];
}

}  // namespace tilegym::tile_ir
