#include "tile_ir/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "tile_ir/dense.h"
#include "tile_ir/float_text.h"

namespace tilegym::tile_ir {

namespace {

constexpr std::string_view kHexDigits = "0123456789ABCDEF";

void append_hex_byte(std::string& out, std::uint8_t byte) {
  out += kHexDigits[byte >> 4];
  out += kHexDigits[byte & 0xf];
}

constexpr std::string_view kPaddings[] = {"zero", "neg_zero", "nan", "pos_inf", "neg_inf"};

using Keywords = std::span<const std::string_view>;

constexpr std::string_view kSignedness[] = {"unsigned", "signed"};
constexpr std::string_view kOverflow[] = {"none", "no_signed_wrap", "no_unsigned_wrap", "no_wrap"};
constexpr std::string_view kRounding[] = {"nearest_even", "zero", "negative_inf",       "positive_inf",
                                          "approx",       "full", "nearest_int_to_zero"};
constexpr std::string_view kPredicate[] = {
    "equal", "not_equal", "less_than", "less_than_or_equal", "greater_than", "greater_than_or_equal"};
constexpr std::string_view kOrdering[] = {"unordered", "ordered"};
constexpr std::string_view kMemoryOrdering[] = {"weak", "relaxed", "acquire", "release", "acq_rel"};
constexpr std::string_view kMemoryScope[] = {"tl_blk", "device", "sys"};
constexpr std::string_view kMode[] = {"and", "or", "xor", "add", "addf", "max", "min", "umax", "umin", "xchg"};
constexpr std::string_view kTruth[] = {"false", "true"};

/// Keywords of an attribute's values; none where it is a plain number.
Keywords keywords(AttrName name) {
  switch (name) {
    case AttrName::signedness:
    case AttrName::signedness_lhs:
    case AttrName::signedness_rhs:
      return kSignedness;
    case AttrName::overflow:
      return kOverflow;
    case AttrName::rounding:
    case AttrName::rounding_mode:
      return kRounding;
    case AttrName::comparison_predicate:
      return kPredicate;
    case AttrName::comparison_ordering:
      return kOrdering;
    case AttrName::memory_ordering_semantics:
      return kMemoryOrdering;
    case AttrName::memory_scope:
      return kMemoryScope;
    case AttrName::mode:
      return kMode;
    case AttrName::reverse:
      return kTruth;
    default:
      return {};
  }
}

template <class Values, class Append>
void append_list(std::string& out, const Values& values, std::string_view separator, Append append) {
  bool first = true;
  for (const auto& value : values) {
    if (!first) out += separator;
    first = false;
    append(value);
  }
}

void append_dynamic(std::string& out, std::int64_t value) {
  if (value == kDynamic) {
    out += '?';
  } else {
    append_number(out, value);
  }
}

void append_pointer(std::string& out, const Type& type) {
  out += "ptr<";
  out += name(type.element);
  out += '>';
}

void append_extents_and_element(std::string& out, const Type& type) {
  for (const std::int64_t extent : type.shape) {
    append_dynamic(out, extent);
    out += 'x';
  }
  if (type.of_pointers) {
    append_pointer(out, type);
  } else {
    out += name(type.element);
  }
}

void append_numbers(std::string& out, std::span<const std::int64_t> numbers, std::string_view separator) {
  append_list(out, numbers, separator, [&](std::int64_t number) { append_dynamic(out, number); });
}

void append_tensor_view(std::string& out, const Type& type) {
  out += "tensor_view<";
  append_extents_and_element(out, type);
  if (!type.shape.empty()) {
    out += ", strides=[";
    append_numbers(out, type.strides, ",");
    out += ']';
  }
  out += '>';
}

bool is_identity(std::span<const std::int32_t> map) {
  for (std::size_t i = 0; i < map.size(); ++i) {
    if (map[i] != static_cast<std::int32_t>(i)) return false;
  }
  return true;
}

void append_view(std::string& out, const Module& module, const Type& type, std::string_view mnemonic) {
  out += mnemonic;
  out += "<tile=(";
  append_numbers(out, type.shape, "x");
  out += "), ";
  if (type.kind == TypeKind::strided_view) {
    out += "traversal_strides=[";
    append_numbers(out, type.strides, ",");
    out += "], ";
  }
  if (type.padding) {
    out += "padding_value = ";
    out += kPaddings[static_cast<std::size_t>(*type.padding)];
    out += ", ";
  }
  append_type(out, module, module.type(type.tensor_view));
  if (type.kind == TypeKind::gather_scatter_view) {
    out += ", sparse_dim=" + std::to_string(type.sparse_dim);
  } else if (!is_identity(type.dim_map)) {
    out += ", dim_map=[";
    append_list(out, type.dim_map, ", ", [&](std::int32_t dim) { append_number(out, dim); });
    out += ']';
  }
  out += '>';
}

void append_types(std::string& out, const Module& module, std::span<const TypeId> types) {
  out += '(';
  append_list(out, types, ", ", [&](TypeId id) { append_type(out, module, module.type(id)); });
  out += ')';
}

std::int64_t sign_extended(std::uint64_t bits, int width) {
  const int unused = 64 - width;
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

void append_element(std::string& out, ElementType type, std::uint64_t bits) {
  if (is_float(type)) {
    append_float(out, type, bits);
  } else if (type == ElementType::i1) {
    out += kTruth[bits & 1];
  } else {
    append_number(out, sign_extended(bits, bit_width(type)));
  }
}

/// The elements of a tile in nested brackets.
class DenseWriter {
 public:
  DenseWriter(std::string& out, const Type& tile, std::span<const std::byte> bytes)
      : out_(out), tile_(tile), bytes_(bytes) {}

  void write(std::size_t dimension = 0) {
    if (dimension == tile_.shape.size()) {
      append_element(out_, tile_.element, element_bits(tile_, bytes_, false, next_++));
      return;
    }
    out_ += '[';
    for (std::int64_t i = 0; i < tile_.shape[dimension]; ++i) {
      if (i > 0) out_ += ", ";
      write(dimension + 1);
    }
    out_ += ']';
  }

 private:
  std::string& out_;
  const Type& tile_;
  std::span<const std::byte> bytes_;
  std::size_t next_ = 0;
};

bool is_uniform(const Type& tile, std::span<const std::byte> bytes, std::size_t count) {
  const std::uint64_t first = element_bits(tile, bytes, false, 0);
  for (std::size_t i = 1; i < count; ++i) {
    if (element_bits(tile, bytes, false, i) != first) return false;
  }
  return true;
}

/// Long lists of elements are written as the bytes that LLVM keeps: one for each i1.
void append_hex_elements(std::string& out, const Type& tile, std::span<const std::byte> bytes, std::size_t count) {
  out += "\"0x";
  if (tile.element == ElementType::i1) {
    for (std::size_t i = 0; i < count; ++i) out += element_bits(tile, bytes, false, i) != 0 ? "01" : "00";
  } else {
    out.reserve(out.size() + 2 * bytes.size());
    for (const std::byte byte : bytes) append_hex_byte(out, std::to_integer<std::uint8_t>(byte));
  }
  out += '"';
}

/// Attributes inside arrays and hints. `typed`: with the type behind numbers, where it is not the usual one.
void append_generic(std::string& out, const Module& module, const Attribute& value, bool typed);

void append_typed_element(std::string& out, const Module& module, const Attribute& value, bool typed) {
  const ElementType type = module.type(value.type).element;
  bool elided = type == ElementType::i64 || type == ElementType::i1;
  if (value.kind == AttrKind::floating) {
    elided = !append_float(out, type, value.bits) && type == ElementType::f64;
  } else {
    append_element(out, type, value.integer);
  }
  if (!typed || elided) return;
  out += " : ";
  out += name(type);
}

std::vector<const Attribute*> sorted_by_key(const Attribute& dictionary) {
  std::vector<const Attribute*> children;
  for (const Attribute& child : dictionary.children) children.push_back(&child);
  std::ranges::sort(children, {}, &Attribute::key);
  return children;
}

void append_dictionary(std::string& out, const Module& module, const Attribute& value) {
  append_list(out, sorted_by_key(value), ", ", [&](const Attribute* child) {
    out += child->key;
    out += " = ";
    append_generic(out, module, *child, false);
  });
}

void append_hints(std::string& out, const Module& module, const Attribute& value) {
  out += '<';
  append_list(out, sorted_by_key(value), ", ", [&](const Attribute* target) {
    out += target->key;
    out += " = {";
    append_dictionary(out, module, *target);
    out += '}';
  });
  out += '>';
}

void append_array(std::string& out, const Module& module, const Attribute& value) {
  out += '[';
  append_list(out, value.children, ", ", [&](const Attribute& child) { append_generic(out, module, child, true); });
  out += ']';
}

void append_bound(std::string& out, bool present, std::int64_t value) {
  out += present ? std::to_string(value) : "?";
}

void append_predicate(std::string& out, const Attribute& value) {
  const std::vector<std::int64_t>& numbers = value.numbers;
  if (value.kind == AttrKind::div_by) {
    out += "div_by<" + std::to_string(static_cast<std::uint64_t>(numbers[0]));
    if (numbers[1] != 0) {
      out += ", every " + std::to_string(numbers[2]) + " along " + std::to_string(numbers[4]);
    }
  } else if (value.kind == AttrKind::same_elements) {
    out += "same_elements<[";
    append_list(out, numbers, ", ", [&](std::int64_t number) { append_number(out, number); });
    out += ']';
  } else {
    out += "bounded<";
    append_bound(out, numbers[0] != 0, numbers[1]);
    out += ", ";
    append_bound(out, numbers[2] != 0, numbers[3]);
  }
  out += '>';
}

void append_generic(std::string& out, const Module& module, const Attribute& value, bool typed) {
  switch (value.kind) {
    case AttrKind::integer:
    case AttrKind::floating:
      return append_typed_element(out, module, value, typed);
    case AttrKind::boolean:
      out += kTruth[value.integer & 1];
      return;
    case AttrKind::string:
      return append_quoted(out, value.text);
    case AttrKind::type:
      return append_type(out, module, module.type(value.type));
    case AttrKind::array:
      return append_array(out, module, value);
    case AttrKind::i32_array:
      out += '[';
      append_list(out, value.numbers, ", ", [&](std::int64_t number) { append_number(out, number); });
      out += ']';
      return;
    case AttrKind::dense:
      return append_dense(out, module.type(value.type), value.bytes, value.splat);
    case AttrKind::dictionary:
      out += '{';
      append_dictionary(out, module, value);
      out += '}';
      return;
    case AttrKind::optimization_hints:
      return append_hints(out, module, value);
    case AttrKind::div_by:
    case AttrKind::same_elements:
    case AttrKind::bounded:
      return append_predicate(out, value);
  }
}

}  // namespace

void append_quoted(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (c == '\\') {
      out += "\\\\";
    } else if (byte >= 0x20 && byte < 0x7f && c != '"') {
      out += c;
    } else {
      out += '\\';
      append_hex_byte(out, byte);
    }
  }
  out += '"';
}

void append_symbol(std::string& out, std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto is_rest = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '$' || c == '.'; };
  out += '@';
  if (!name.empty() && is_letter(name.front()) && std::ranges::all_of(name, is_rest)) {
    out += name;
  } else {
    append_quoted(out, name);
  }
}

void append_type(std::string& out, const Module& module, const Type& type) {
  switch (type.kind) {
    case TypeKind::element:
      out += name(type.element);
      return;
    case TypeKind::pointer:
      return append_pointer(out, type);
    case TypeKind::tile:
      out += "tile<";
      append_extents_and_element(out, type);
      out += '>';
      return;
    case TypeKind::tensor_view:
      return append_tensor_view(out, type);
    case TypeKind::partition_view:
      return append_view(out, module, type, "partition_view");
    case TypeKind::strided_view:
      return append_view(out, module, type, "strided_view");
    case TypeKind::gather_scatter_view:
      return append_view(out, module, type, "gather_scatter_view");
    case TypeKind::function:
      append_types(out, module, type.inputs);
      out += " -> ";
      return append_types(out, module, type.results);
    case TypeKind::token:
      out += "token";
      return;
  }
}

void append_attribute(std::string& out, const Module& module, AttrName name, const Attribute& value) {
  if (name == AttrName::name) return append_symbol(out, value.text);
  if (value.kind != AttrKind::integer) return append_generic(out, module, value, true);
  const Keywords words = keywords(name);
  if (value.integer < words.size()) {
    out += words[value.integer];
  } else {
    append_number(out, value.integer);
  }
}

void append_dense(std::string& out, const Type& tile, std::span<const std::byte> bytes, bool splat) {
  constexpr std::size_t kMostListed = 100;
  const auto count = static_cast<std::size_t>(tile.element_count());
  out += '<';
  out += name(tile.element);
  out += ": ";
  if (splat || is_uniform(tile, bytes, count)) {
    append_element(out, tile.element, element_bits(tile, bytes, splat, 0));
  } else if (count > kMostListed) {
    append_hex_elements(out, tile, bytes, count);
  } else {
    DenseWriter(out, tile, bytes).write();
  }
  out += '>';
}

bool is_hidden_terminator(const Operation& parent, const Operation& operation) noexcept {
  if (!operation.operands.empty()) return false;
  switch (parent.opcode) {
    case Opcode::If:
      return operation.opcode == Opcode::Yield;
    case Opcode::For:
    case Opcode::Loop:
      return operation.opcode == Opcode::Continue;
    default:
      return false;
  }
}

}  // namespace tilegym::tile_ir
