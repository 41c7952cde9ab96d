#include "tile_ir/printer.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "tile_ir/assembly.h"
#include "tile_ir/location_names.h"
#include "tile_ir/text.h"
#include "tile_ir/value_names.h"

namespace tilegym::tile_ir {

namespace {

/// What the whole module shares: the text, and the names of types and locations.
struct Output {
  Output(const Module& of, PrintOptions options) : module(of), types(of.types.size()) {
    for (std::size_t i = 0; i < types.size(); ++i) append_type(types[i], module, module.types[i]);
    if (options.locations) locations.emplace(module);
    text.reserve(expected_size());
  }

  /// Nearly all of the text is lines that name a value or two; growing a text of megabytes costs as much as writing it.
  [[nodiscard]] std::size_t expected_size() const {
    constexpr std::size_t kMost = std::size_t{1} << 24;
    std::size_t values = 0;
    for (const Function& function : module.functions) values += function.values.size();
    return std::min(kMost, values * (locations ? 96 : 64));
  }

  void append_location(DebugId location) {
    if (locations) locations->append_trailing(text, location);
  }

  const Module& module;
  std::string text;
  std::vector<std::string> types;
  std::optional<LocationNames> locations;
};

class FunctionPrinter {
 public:
  FunctionPrinter(Output& output, const Function& function)
      : output_(output), text_(output.text), function_(function), names_(output.module, function) {}

  void print() {
    text_ += function_.is_entry ? "entry " : "function ";
    append_symbol(text_, function_.name);
    append_arguments(function_.body);
    if (function_.optimization_hints && !function_.optimization_hints->children.empty()) {
      text_ += " optimization_hints=";
      append_attribute(text_, output_.module, AttrName::optimization_hints, *function_.optimization_hints);
    }
    text_ += ' ';
    append_block(nullptr, function_.body);
    output_.append_location(function_.location);
    text_ += '\n';
  }

 private:
  void append_block(const Operation* parent, const Block& block) {
    text_ += "{\n";
    indent_ += 2;
    for (const Operation& operation : block.operations) {
      if (parent != nullptr && is_hidden_terminator(*parent, operation)) continue;
      append_operation(operation);
    }
    indent_ -= 2;
    text_.append(indent_, ' ');
    text_ += '}';
  }

  void append_operation(const Operation& operation) {
    text_.append(indent_, ' ');
    if (operation.opcode == kUnreadOpcode) return append_unread();
    if (!operation.results.empty()) {
      names_.append_results(text_, operation);
      text_ += " = ";
    }
    text_ += name(operation.opcode);
    const Assembly& row = assembly(operation.opcode);
    for (const Part& part : row.parts) {
      if (!holds(part, operation)) continue;
      for (std::size_t i = part.begin; i < part.end; ++i) append_piece(row.pieces[i], operation);
    }
    output_.append_location(operation.location);
    text_ += '\n';
  }

  void append_unread() {
    static constexpr std::string_view kDigits = "0123456789abcdef";
    if (!function_.unread) return;
    text_ += "unknown operation " + std::to_string(function_.unread->code) + " at byte " +
             std::to_string(function_.unread->byte_offset) + ":";
    for (const std::byte byte : function_.unread->bytes) {
      const auto value = std::to_integer<unsigned>(byte);
      text_ += ' ';
      text_ += kDigits[value >> 4];
      text_ += kDigits[value & 0xf];
    }
    text_ += '\n';
  }

  static bool holds(const Part& part, const Operation& operation) {
    switch (part.condition) {
      case Condition::always:
        return true;
      case Condition::has_operands:
        return !operation.group(part.index).empty();
      case Condition::has_attribute:
        return operation.find(part.attribute) != nullptr;
      case Condition::differs:
        return operation.integer(part.attribute, part.value) != part.value;
    }
    return false;
  }

  void append_piece(const Piece& piece, const Operation& operation) {
    switch (piece.kind) {
      case PieceKind::literal:
        text_ += piece.text;
        break;
      case PieceKind::operands:
        append_values(operation.group(piece.index));
        break;
      case PieceKind::operand_types:
        append_types(operation.group(piece.index));
        break;
      case PieceKind::result_type:
        if (piece.index < operation.results.size()) append_type_of(operation.results[piece.index]);
        break;
      case PieceKind::result_types:
        append_types(operation.results);
        break;
      case PieceKind::attribute:
        if (const Attribute* value = operation.find(piece.attribute); value != nullptr) {
          append_attribute(text_, output_.module, piece.attribute, *value);
        }
        break;
      case PieceKind::custom:
        append_custom(piece.custom, operation);
        break;
    }
  }

  void append_custom(Custom custom, const Operation& operation) {
    switch (custom) {
      case Custom::induction_variable:
        if (const Block* body = block_of(operation, 0); body != nullptr && !body->arguments.empty()) {
          names_.append(text_, body->arguments[0]);
        }
        break;
      case Custom::iteration_values:
        return append_iteration_values(operation);
      case Custom::body:
        return append_region(operation, 0);
      case Custom::else_body:
        if (block_of(operation, 1) == nullptr) break;
        text_ += " else ";
        return append_region(operation, 1);
      case Custom::argument_body:
        return append_argument_body(operation);
      case Custom::if_results:
        if (operation.results.empty()) break;
        text_ += "-> (";
        append_types(operation.results);
        text_ += ") ";
        break;
      case Custom::loop_types:
        return append_loop_types(operation);
      case Custom::index_types:
        return append_index_types(operation);
      case Custom::shape:
        return append_mixed(tensor_type(operation).shape, operation.group(1));
      case Custom::strides:
        return append_mixed(tensor_type(operation).strides, operation.group(2));
      case Custom::dynamic_type:
        if (operation.operands.size() < 2) break;
        append_type_of(operation.operands[1]);
        text_ += " -> ";
        break;
    }
  }

  static const Block* block_of(const Operation& operation, std::size_t region) {
    if (region >= operation.regions.size() || operation.regions[region].blocks.empty()) return nullptr;
    return &operation.regions[region].blocks.front();
  }

  void append_region(const Operation& operation, std::size_t region) {
    if (const Block* block = block_of(operation, region); block != nullptr) append_block(&operation, *block);
  }

  void append_argument_body(const Operation& operation) {
    const Block* body = block_of(operation, 0);
    if (body == nullptr) return;
    text_ += '\n';
    text_.append(indent_, ' ');
    append_arguments(*body);
    text_ += ' ';
    append_block(&operation, *body);
  }

  /// "(%arg0: type, ...)"
  void append_arguments(const Block& block) {
    text_ += '(';
    for (std::size_t i = 0; i < block.arguments.size(); ++i) {
      if (i > 0) text_ += ", ";
      names_.append(text_, block.arguments[i]);
      text_ += ": ";
      append_type_of(block.arguments[i]);
    }
    text_ += ')';
  }

  /// The group of initial values is the last one.
  static std::span<const ValueId> initial_values(const Operation& operation) {
    return operation.group(operation.segments.size() - 1);
  }

  void append_iteration_values(const Operation& operation) {
    const std::span<const ValueId> initial = initial_values(operation);
    const Block* body = block_of(operation, 0);
    if (body == nullptr || body->arguments.size() < initial.size()) return;
    const std::size_t skipped = body->arguments.size() - initial.size();
    for (std::size_t i = 0; i < initial.size(); ++i) {
      if (i > 0) text_ += ", ";
      names_.append(text_, body->arguments[skipped + i]);
      text_ += " = ";
      names_.append(text_, initial[i]);
    }
  }

  void append_loop_types(const Operation& operation) {
    const std::span<const ValueId> initial = initial_values(operation);
    if (initial.empty() && operation.results.empty()) return;
    text_ += ": ";
    append_types(initial);
    if (!initial.empty() && !operation.results.empty()) text_ += " -> ";
    append_types(operation.results);
    text_ += ' ';
  }

  void append_index_types(const Operation& operation) {
    const OpSpec* spec = find_op(static_cast<std::uint64_t>(operation.opcode));
    const std::size_t group =
        static_cast<std::size_t>(std::ranges::find(spec->operands, "index", &GroupSpec::name) - spec->operands.begin());
    const std::span<const ValueId> index = operation.group(group);
    if (index.empty()) return;
    const auto type = [this](ValueId value) -> std::string_view { return output_.types[function_.values[value]]; };
    text_ += ", ";
    const bool same = std::ranges::all_of(index, [&](ValueId value) { return type(value) == type(index[0]); });
    append_types(same ? index.first(1) : index);
  }

  const Type& tensor_type(const Operation& operation) const {
    return output_.module.type_of(function_, operation.results[0]);
  }

  void append_mixed(std::span<const std::int64_t> numbers, std::span<const ValueId> dynamic) {
    std::size_t next = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (i > 0) text_ += ", ";
      if (numbers[i] != kDynamic) {
        append_number(text_, numbers[i]);
      } else if (next < dynamic.size()) {
        names_.append(text_, dynamic[next++]);
      } else {
        text_ += '?';
      }
    }
  }

  void append_values(std::span<const ValueId> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) text_ += ", ";
      names_.append(text_, values[i]);
    }
  }

  void append_types(std::span<const ValueId> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) text_ += ", ";
      append_type_of(values[i]);
    }
  }

  void append_type_of(ValueId value) { text_ += output_.types[function_.values[value]]; }

  Output& output_;
  std::string& text_;
  const Function& function_;
  ValueNames names_;
  std::size_t indent_ = 0;
};

void append_global(Output& output, const Global& global) {
  std::string& text = output.text;
  text += global.is_private ? "global private " : "global ";
  if (global.constant) text += " constant";
  text += ' ';
  append_symbol(text, global.name);
  if (global.alignment != 0) text += " alignment = " + std::to_string(global.alignment);
  text += ' ';
  append_dense(text, output.module.type(global.type), global.bytes, global.splat);
  text += " : ";
  text += output.types[global.type];
  output.append_location(0);
  text += '\n';
}

}  // namespace

std::string print_module(const Module& module, PrintOptions options) {
  Output output(module, options);
  for (const Global& global : module.globals) append_global(output, global);
  for (const Function& function : module.functions) FunctionPrinter(output, function).print();
  if (module.globals.empty() && module.functions.empty()) output.text += '\n';
  if (output.locations) output.locations->append_definitions(output.text);
  return std::move(output.text);
}

}  // namespace tilegym::tile_ir
