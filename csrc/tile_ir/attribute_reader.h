#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "tile_ir/byte_reader.h"
#include "tile_ir/debug_reader.h"
#include "tile_ir/module.h"
#include "tile_ir/op_table.h"
#include "tile_ir/sections.h"

namespace tilegym::tile_ir {

/// Tags before values that say what they are.
enum class AttrTag : std::uint8_t {
  integer = 1,
  floating = 2,
  boolean = 3,
  type = 4,
  string = 5,
  array = 6,
  dense = 7,
  div_by = 8,
  same_elements = 9,
  dictionary = 10,
  optimization_hints = 11,
  bounded = 12,
};

/// The tables that indices in functions, globals and attributes point into.
struct Tables {
  Version version;
  std::span<const Type> types;
  TypeId token = 0;
  std::vector<std::string_view> strings;
  std::vector<Blob> constants;
  DebugTables debug;
  /// ReadOptions::keep_unknown.
  bool keep_unknown = false;

  [[nodiscard]] Result<std::string_view> read_string(ByteReader& reader, const Subject& subject) const;
  [[nodiscard]] Result<TypeId> read_type(ByteReader& reader, const Subject& subject) const;
  /// A constant of the tile type `tile`: checks that the bytes are one element or all of them.
  [[nodiscard]] Result<Attribute> read_constant(ByteReader& reader, TypeId tile, const Subject& subject) const;
};

/// Decodes attribute values. One per reader; keeps no state between calls.
class AttributeReader {
 public:
  explicit AttributeReader(const Tables& tables) : tables_(tables) {}

  /// Fills `value` with the value of `attribute` as operations store it, without a tag. `operation` is named in errors;
  /// `result` is the type of its first result.
  [[nodiscard]] Status read(ByteReader& reader, AttrName attribute, std::string_view operation,
                            std::optional<TypeId> result, Attribute& value) const;
  /// A value that begins with its tag.
  [[nodiscard]] Result<Attribute> read_tagged(ByteReader& reader, int depth = 0) const;

 private:
  [[nodiscard]] Result<Attribute> read_integer(ByteReader& reader) const;
  [[nodiscard]] Result<Attribute> read_floating(ByteReader& reader) const;
  [[nodiscard]] Result<Attribute> read_dense(ByteReader& reader, std::optional<TypeId> tile,
                                             const Subject& subject) const;
  [[nodiscard]] Result<Attribute> read_array(ByteReader& reader, int depth) const;
  [[nodiscard]] Result<Attribute> read_dictionary(ByteReader& reader, AttrKind kind, int depth) const;
  [[nodiscard]] Result<Attribute> read_div_by(ByteReader& reader) const;
  [[nodiscard]] Result<Attribute> read_bounded(ByteReader& reader) const;

  const Tables& tables_;
};

}  // namespace tilegym::tile_ir
