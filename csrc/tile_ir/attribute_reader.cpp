#include "tile_ir/attribute_reader.h"

#include <limits>
#include <set>
#include <string>
#include <utility>

#include "tile_ir/dense.h"

namespace tilegym::tile_ir {

namespace {

/// Real attributes nest twice (targets in hints); the limit only keeps hostile input off the stack's end.
constexpr int kMaxDepth = 16;
constexpr std::uint64_t kMaxInt64 = std::numeric_limits<std::int64_t>::max();

constexpr auto kLastTag = static_cast<std::uint64_t>(AttrTag::bounded);

Attribute of_kind(AttrKind kind) {
  Attribute attribute;
  attribute.kind = kind;
  return attribute;
}

Attribute integer_attribute(std::uint64_t value) {
  Attribute attribute = of_kind(AttrKind::integer);
  attribute.integer = value;
  return attribute;
}

template <class T>
Status assign(T& to, Result<T> from) {
  if (!from.ok()) return std::move(from).error();
  to = std::move(from).value();
  return {};
}

Result<Attribute> read_boolean(ByteReader& reader, const Subject& subject) {
  TILEGYM_ASSIGN(const std::uint8_t value, reader.byte(subject));
  if (value > 1) return malformed(subject, "0 or 1", value, reader.offset() - 1);
  return integer_attribute(value);
}

Result<Attribute> read_numbers(ByteReader& reader, AttrKind kind, std::size_t width, const Subject& subject) {
  Attribute attribute = of_kind(kind);
  TILEGYM_ASSIGN(const std::size_t count, reader.count(width, subject));
  attribute.numbers.resize(count);
  for (std::int64_t& number : attribute.numbers) {
    TILEGYM_ASSIGN(const std::uint64_t bits, reader.fixed(width, subject));
    number = width == 4 ? static_cast<std::int32_t>(bits) : static_cast<std::int64_t>(bits);
  }
  return attribute;
}

/// Appends {present, value} for each of two optional numbers that a flags byte announces.
Status read_optional_pair(ByteReader& reader, const Subject& subject, std::vector<std::int64_t>& numbers) {
  TILEGYM_ASSIGN(const std::uint8_t flags, reader.byte(subject));
  if (flags > 3) return malformed(subject, "flags 0 to 3", flags, reader.offset() - 1);
  for (const unsigned bit : {1u, 2u}) {
    const bool present = (flags & bit) != 0;
    std::int64_t value = 0;
    if (present) {
      TILEGYM_ASSIGN(value, reader.signed_varint(subject));
    }
    numbers.insert(numbers.end(), {present ? 1 : 0, value});
  }
  return {};
}

}  // namespace

Result<std::string_view> Tables::read_string(ByteReader& reader, const Subject& subject) const {
  TILEGYM_ASSIGN(const std::uint32_t index, reader.index(strings.size(), subject));
  return strings[index];
}

Result<TypeId> Tables::read_type(ByteReader& reader, const Subject& subject) const {
  return reader.index(types.size(), subject);
}

Result<Attribute> Tables::read_constant(ByteReader& reader, TypeId tile, const Subject& subject) const {
  const std::size_t start = reader.offset();
  TILEGYM_ASSIGN(const std::uint32_t index, reader.index(constants.size(), subject));
  const Type& type = types[tile];
  if (!type.is_tile() || type.of_pointers) {
    return malformed(subject, "a tile of numbers as its type", std::string_view("another type"), start);
  }
  ByteReader blob(constants[index].bytes, constants[index].offset);
  TILEGYM_ASSIGN(const std::size_t size, blob.count(1, Subject("byte length", subject.item)));
  Attribute attribute = of_kind(AttrKind::dense);
  attribute.type = tile;
  TILEGYM_ASSIGN(attribute.bytes, blob.bytes(size, subject));
  const auto form = dense_form(type, attribute.bytes);
  if (!form) return malformed(subject, "one element of the tile or all", size, constants[index].offset);
  attribute.splat = *form == DenseForm::splat;
  return attribute;
}

Status AttributeReader::read(ByteReader& reader, AttrName attribute, std::string_view operation,
                             std::optional<TypeId> result, Attribute& value) const {
  const AttrInfo& row = info(attribute);
  const Subject subject(row.name, operation);
  switch (row.encoding) {
    case AttrEncoding::unit:
      value.integer = 1;
      return {};
    case AttrEncoding::number:
      return assign(value.integer, reader.varint_up_to(row.limit, subject));
    case AttrEncoding::boolean:
      return assign(value, read_boolean(reader, subject));
    case AttrEncoding::string:
      value.kind = AttrKind::string;
      return assign(value.text, tables_.read_string(reader, subject));
    case AttrEncoding::type:
      value.kind = AttrKind::type;
      return assign(value.type, tables_.read_type(reader, subject));
    case AttrEncoding::i32_array:
      return assign(value, read_numbers(reader, AttrKind::i32_array, 4, subject));
    case AttrEncoding::dense:
      return assign(value, read_dense(reader, result, subject));
    case AttrEncoding::array:
      return assign(value, read_array(reader, 0));
    case AttrEncoding::hints:
      return assign(value, read_dictionary(reader, AttrKind::optimization_hints, 0));
    case AttrEncoding::tagged:
      return assign(value, read_tagged(reader));
  }
  return {};
}

Result<Attribute> AttributeReader::read_tagged(ByteReader& reader, int depth) const {
  const std::size_t start = reader.offset();
  TILEGYM_ASSIGN(const std::uint64_t tag, reader.varint("attribute tag"));
  if (tag == 0 || tag > kLastTag) return malformed("attribute tag", "1 to 12", tag, start);
  if (depth > kMaxDepth)
    return malformed("nesting of attributes", "at most 16 levels", std::string_view("more"), start);
  Attribute value;
  switch (static_cast<AttrTag>(tag)) {
    case AttrTag::integer:
      return read_integer(reader);
    case AttrTag::floating:
      return read_floating(reader);
    case AttrTag::boolean: {
      TILEGYM_ASSIGN(value, read_boolean(reader, "boolean attribute"));
      value.kind = AttrKind::boolean;
      return value;
    }
    case AttrTag::type: {
      value.kind = AttrKind::type;
      TILEGYM_ASSIGN(value.type, tables_.read_type(reader, "type attribute"));
      return value;
    }
    case AttrTag::string: {
      value.kind = AttrKind::string;
      TILEGYM_ASSIGN(value.text, tables_.read_string(reader, "string attribute"));
      return value;
    }
    case AttrTag::array:
      return read_array(reader, depth);
    case AttrTag::dense:
      return read_dense(reader, std::nullopt, "dense attribute");
    case AttrTag::div_by:
      return read_div_by(reader);
    case AttrTag::same_elements:
      return read_numbers(reader, AttrKind::same_elements, 8, "same_elements attribute");
    case AttrTag::dictionary:
      return read_dictionary(reader, AttrKind::dictionary, depth);
    case AttrTag::optimization_hints:
      return read_dictionary(reader, AttrKind::optimization_hints, depth);
    case AttrTag::bounded:
      return read_bounded(reader);
  }
  return value;
}

Result<Attribute> AttributeReader::read_integer(ByteReader& reader) const {
  Attribute value = of_kind(AttrKind::integer);
  const std::size_t start = reader.offset();
  TILEGYM_ASSIGN(value.type, tables_.read_type(reader, "type of integer attribute"));
  const Type& type = tables_.types[value.type];
  if (type.kind != TypeKind::element || is_float(type.element)) {
    return malformed("type of integer attribute", "an integer type", std::string_view("another type"), start);
  }
  const std::uint64_t limit = largest(static_cast<unsigned>(bit_width(type.element)));
  TILEGYM_ASSIGN(value.integer, reader.varint_up_to(limit, "integer attribute"));
  return value;
}

Result<Attribute> AttributeReader::read_floating(ByteReader& reader) const {
  Attribute value = of_kind(AttrKind::floating);
  const std::size_t start = reader.offset();
  TILEGYM_ASSIGN(value.type, tables_.read_type(reader, "type of float attribute"));
  const Type& type = tables_.types[value.type];
  if (type.kind != TypeKind::element || !is_float(type.element)) {
    return malformed("type of float attribute", "a float type", std::string_view("another type"), start);
  }
  const unsigned bits = significant_bits(type.element);
  if (bits <= 8) {
    TILEGYM_ASSIGN(value.bits, reader.byte("float attribute"));
  } else {
    TILEGYM_ASSIGN(const std::int64_t pattern, reader.signed_varint("float attribute"));
    value.bits = static_cast<std::uint64_t>(pattern);
  }
  if (value.bits > largest(bits)) {
    return malformed("float attribute", std::to_string(bits) + " bits", value.bits, start);
  }
  return value;
}

Result<Attribute> AttributeReader::read_dense(ByteReader& reader, std::optional<TypeId> tile,
                                              const Subject& subject) const {
  if (!tile) {
    TILEGYM_ASSIGN(tile, tables_.read_type(reader, Subject("type", subject.item)));
  }
  return tables_.read_constant(reader, *tile, subject);
}

Result<Attribute> AttributeReader::read_array(ByteReader& reader, int depth) const {
  Attribute array = of_kind(AttrKind::array);
  TILEGYM_ASSIGN(const std::size_t count, reader.count(1, "length of array attribute"));
  for (std::size_t i = 0; i < count; ++i) {
    TILEGYM_ASSIGN(Attribute element, read_tagged(reader, depth + 1));
    array.children.push_back(std::move(element));
  }
  return array;
}

Result<Attribute> AttributeReader::read_dictionary(ByteReader& reader, AttrKind kind, int depth) const {
  Attribute dictionary = of_kind(kind);
  TILEGYM_ASSIGN(const std::size_t count, reader.count(2, "length of dictionary attribute"));
  std::set<std::string_view> keys;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t start = reader.offset();
    TILEGYM_ASSIGN(const std::string_view key, tables_.read_string(reader, "dictionary key"));
    if (!keys.insert(key).second) return malformed("dictionary key", "each key once", key, start);
    TILEGYM_ASSIGN(Attribute child, read_tagged(reader, depth + 1));
    child.key = key;
    dictionary.children.push_back(std::move(child));
  }
  return dictionary;
}

Result<Attribute> AttributeReader::read_div_by(ByteReader& reader) const {
  Attribute value = of_kind(AttrKind::div_by);
  TILEGYM_ASSIGN(const std::uint64_t divisor, reader.varint_up_to(kMaxInt64, "divisor of div_by"));
  value.numbers.push_back(static_cast<std::int64_t>(divisor));
  TILEGYM_TRY(read_optional_pair(reader, "every and along of div_by", value.numbers));
  return value;
}

Result<Attribute> AttributeReader::read_bounded(ByteReader& reader) const {
  Attribute value = of_kind(AttrKind::bounded);
  TILEGYM_TRY(read_optional_pair(reader, "bounds of bounded", value.numbers));
  return value;
}

}  // namespace tilegym::tile_ir
