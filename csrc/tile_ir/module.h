#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tile_ir/opcodes.h"
#include "tile_ir/types.h"

namespace tilegym::tile_ir {

/// Index into Function::values.
using ValueId = std::uint32_t;

enum class AttrKind : std::uint8_t {
  integer,      // integers, enums, flags, bools
  floating,
  string,
  type,
  array,        // elements in `children`
  i32_array,    // elements in `numbers`
  dense,        // raw little-endian element bytes in `bytes`; element type in `type`
  div_by,       // numbers = {divisor, every, along}; every and along only when present
  same_elements,
  dictionary,   // children carry `key`
  optimization_hints,
  bounded,      // numbers = {has_lower, lower, has_upper, upper}
};

/// One attribute value. `bytes` and `text` point into the bytecode buffer that the module keeps alive.
struct Attribute {
  AttrKind kind = AttrKind::integer;
  std::uint64_t integer = 0;
  /// floating: raw bits in the width of `type`.
  std::uint64_t bits = 0;
  TypeId type = 0;
  std::string_view text;
  std::string_view key;
  std::vector<std::int64_t> numbers;
  std::span<const std::byte> bytes;
  std::vector<Attribute> children;
};

struct NamedAttribute {
  AttrName name;
  Attribute value;
};

struct Block;

/// A list of blocks; Tile IR regions hold exactly one.
struct Region {
  std::vector<Block> blocks;
};

/// One operation. Operands lie in one list; `segments` gives the length of each operand group in the order of the
/// dialect's definition (an absent optional operand has length 0).
struct Operation {
  Opcode opcode{};
  /// Offset of the operation's first byte in the bytecode, for reports.
  std::uint32_t byte_offset = 0;
  std::vector<ValueId> operands;
  std::vector<std::uint32_t> segments;
  std::vector<ValueId> results;
  std::vector<NamedAttribute> attributes;
  std::vector<Region> regions;

  /// Operands of group `index`; empty for an absent optional group.
  [[nodiscard]] std::span<const ValueId> group(std::size_t index) const noexcept;
  /// The only operand of group `index`, or nothing.
  [[nodiscard]] std::optional<ValueId> optional(std::size_t index) const noexcept;
  [[nodiscard]] const Attribute* find(AttrName name) const noexcept;
  /// Integer, enum or flag value of an attribute; `fallback` where it is absent.
  [[nodiscard]] std::uint64_t integer(AttrName name, std::uint64_t fallback = 0) const noexcept;
  [[nodiscard]] bool flag(AttrName name) const noexcept { return integer(name) != 0; }
  /// The single block of region `index`. Precondition: it exists (the reader checks).
  [[nodiscard]] const Block& body(std::size_t index = 0) const noexcept;
};

struct Block {
  std::vector<ValueId> arguments;
  std::vector<Operation> operations;
};

struct Function {
  std::string name;
  TypeId type = 0;
  bool is_entry = false;
  Block body;
  /// Type of every value of the function, indexed by ValueId (arguments first).
  std::vector<TypeId> values;
  std::optional<Attribute> optimization_hints;
};

struct Global {
  std::string name;
  TypeId type = 0;
  std::span<const std::byte> bytes;
  std::uint64_t alignment = 1;
  bool constant = false;
};

struct Version {
  std::uint8_t major = 0;
  std::uint8_t minor = 0;
  std::uint16_t tag = 0;
  auto operator<=>(const Version&) const = default;
};

/// A bytecode module in memory. Owns a copy of the buffer it was read from, so its views stay valid when it moves.
struct Module {
  Version version;
  std::vector<std::byte> buffer;
  std::vector<Type> types;
  std::vector<Function> functions;
  std::vector<Global> globals;

  [[nodiscard]] const Type& type(TypeId id) const noexcept { return types[id]; }
  [[nodiscard]] const Type& type_of(const Function& function, ValueId value) const noexcept {
    return types[function.values[value]];
  }
  [[nodiscard]] const Function* find(std::string_view name) const noexcept;
};

}  // namespace tilegym::tile_ir
