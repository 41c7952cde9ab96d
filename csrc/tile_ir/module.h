#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tile_ir/opcodes.h"
#include "tile_ir/short_list.h"
#include "tile_ir/types.h"

namespace tilegym::tile_ir {

/// Index into Function::values.
using ValueId = std::uint32_t;

/// Index into Module::debug; 0 is the unknown location.
using DebugId = std::uint32_t;

/// What a row of the debug section describes. The value is its tag in the bytecode.
enum class DebugKind : std::uint8_t {
  unknown = 0,
  compile_unit = 1,
  file = 2,
  lexical_block = 3,
  location = 4,
  subprogram = 5,
  call_site = 6,
};

/// One row of the debug section. Fields that a kind does not use are empty.
struct DebugEntry {
  DebugKind kind = DebugKind::unknown;
  /// file, location: file name; subprogram: name.
  std::string_view name;
  /// file: directory; subprogram: linkage name.
  std::string_view detail;
  /// lexical_block, location: scope; subprogram: compile unit; call_site: callee.
  DebugId scope = 0;
  /// compile_unit, lexical_block, subprogram: file; call_site: caller.
  DebugId other = 0;
  std::uint32_t line = 0;
  /// lexical_block, location: column; subprogram: line of the scope.
  std::uint32_t column = 0;
};

enum class AttrKind : std::uint8_t {
  integer,             // integers, enums, flags, in `integer`; inside arrays and hints `type` is the element type
  floating,            // raw bits in `bits`; `type` is the element type
  string,              // in `text`
  type,                // in `type`
  array,               // elements in `children`
  i32_array,           // elements in `numbers`
  dense,               // constant tile of type `type`; element_bits() reads it
  div_by,              // numbers = {divisor, has_every, every, has_along, along}
  same_elements,       // in `numbers`
  dictionary,          // children carry `key`
  optimization_hints,  // a dictionary: one dictionary child a target, whose key is the target ("sm_90")
  bounded,             // numbers = {has_lower, lower, has_upper, upper}
  boolean,             // in `integer`
};

/// One attribute value. `bytes` and `text` point into the bytecode buffer that the module keeps alive.
struct Attribute {
  AttrKind kind = AttrKind::integer;
  std::uint64_t integer = 0;
  std::uint64_t bits = 0;
  TypeId type = 0;
  std::string_view text;
  std::string_view key;
  std::vector<std::int64_t> numbers;
  /// dense: little-endian elements in row-major order, each in whole bytes with the value in the low bits (f4E2M1FN and
  /// i4: 1 byte, tf32: 19 bits in 3 bytes), except that i1 elements stand eight to a byte, lowest bit first.
  std::span<const std::byte> bytes;
  /// dense: `bytes` holds one element, which every element of the tile equals. An i1 element is then bit 0.
  bool splat = false;
  std::vector<Attribute> children;
};

struct NamedAttribute {
  AttrName name;
  Attribute value;
};

struct Block;

/// A list of blocks. The reader sees to it that there is exactly one; only the else region of `if` may have none.
struct Region {
  std::vector<Block> blocks;
};

/// One operation. Operands lie in one list; `segments` gives the length of each operand group in the order of
/// opcodes.def (an absent optional operand has length 0). The reader checks codes, counts, indices and ranges; whether
/// types fit the operation is for its consumers to check.
struct Operation {
  Opcode opcode{};
  /// Offset of the operation's first byte in the bytecode, for reports.
  std::uint32_t byte_offset = 0;
  DebugId location = 0;
  ShortList<ValueId, 4> operands;
  ShortList<std::uint32_t, 4> segments;
  ShortList<ValueId, 4> results;
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

/// Opcode that stands in a block for the operation at which reading stopped; nothing follows it.
inline constexpr auto kUnreadOpcode = static_cast<Opcode>(0xffff);

/// The rest of a function's body from an unknown operation on.
struct Unread {
  std::uint64_t code = 0;
  std::size_t byte_offset = 0;
  std::span<const std::byte> bytes;
  std::string reason;
};

struct Function {
  std::string name;
  TypeId type = 0;
  bool is_entry = false;
  bool is_private = false;
  Block body;
  /// Type of every value of the function, indexed by ValueId: parameters first, then block arguments and results as
  /// they appear. Every value has one definition; those of a block are not used outside it.
  std::vector<TypeId> values;
  std::optional<Attribute> optimization_hints;
  DebugId location = 0;
  /// Set where reading stopped at an operation that is not known (ReadOptions::keep_unknown).
  std::optional<Unread> unread;
};

struct Global {
  std::string name;
  TypeId type = 0;
  /// Initial value in the form that Attribute::bytes and Attribute::splat describe.
  std::span<const std::byte> bytes;
  bool splat = false;
  /// Bytes; 0 where the module leaves the choice.
  std::uint64_t alignment = 0;
  bool constant = false;
  bool is_private = false;
};

struct Version {
  std::uint8_t major = 0;
  std::uint8_t minor = 0;
  std::uint16_t tag = 0;
  auto operator<=>(const Version&) const = default;
};

/// A bytecode module in memory. Keeps the memory alive that it was read from, so its views stay valid when it moves.
struct Module {
  Version version;
  std::shared_ptr<const void> storage;
  std::vector<Type> types;
  /// Row 0 is the unknown location.
  std::vector<DebugEntry> debug = std::vector<DebugEntry>(1);
  std::vector<Function> functions;
  std::vector<Global> globals;
  /// Who wrote the module; empty where it does not say.
  std::string producer;

  [[nodiscard]] const Type& type(TypeId id) const noexcept { return types[id]; }
  [[nodiscard]] const Type& type_of(const Function& function, ValueId value) const noexcept {
    return types[function.values[value]];
  }
  [[nodiscard]] const Function* find(std::string_view name) const noexcept;
};

/// Raw bits, zero-extended, of element `index` of a constant tile of type `tile`, whatever form `bytes` has.
/// Precondition: the bytes come from a module that the reader accepted, and index < tile.element_count().
[[nodiscard]] std::uint64_t element_bits(const Type& tile, std::span<const std::byte> bytes, bool splat,
                                         std::size_t index) noexcept;

}  // namespace tilegym::tile_ir
