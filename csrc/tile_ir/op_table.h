#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "tile_ir/opcodes.h"

/// How operations lie in the bytecode, after their code, as `opcodes.def` and `attributes.def` describe it:
///   1. number of results, only where a result or operand group is variadic; then one type index a result
///   2. flags word, only where an optional part exists in the file's version
///   3. attributes that are present, in the order of the table, without names or tags
///   4. operands: value indices. An operation with an optional group or two variadic groups is segmented: each variadic
///      group begins with its length, an optional group is there when its flag is set. Otherwise one length stands
///      before all operands, and only where a group is variadic.
///   5. number of regions and the regions, only where the operation has any
namespace tilegym::tile_ir {

/// A constexpr list of at most `capacity` rows.
template <class T, std::size_t capacity>
class FixedList {
 public:
  constexpr FixedList() = default;
  constexpr FixedList(std::initializer_list<T> rows) : size_(rows.size()) {
    std::size_t next = 0;
    for (const T& row : rows) rows_[next++] = row;
  }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
  [[nodiscard]] constexpr bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] constexpr const T* begin() const noexcept { return rows_.data(); }
  [[nodiscard]] constexpr const T* end() const noexcept { return rows_.data() + size_; }
  [[nodiscard]] constexpr const T& operator[](std::size_t index) const noexcept { return rows_[index]; }

 private:
  std::array<T, capacity> rows_{};
  std::size_t size_ = 0;
};

enum class AttrEncoding : std::uint8_t {
  unit,       // no bytes: the flag bit is the value
  number,     // varint: integers and enums
  boolean,    // one byte
  string,     // index into the string table
  type,       // index into the type table
  i32_array,  // length, then four bytes each
  dense,      // index into the constant table; before it the type's index where the operation has no result
  array,      // length, then tagged values
  hints,      // a dictionary: length, then key and tagged value
  tagged,     // attribute tag, then the value
};

struct AttrInfo {
  std::string_view name;
  AttrEncoding encoding;
  std::uint64_t limit;
};

[[nodiscard]] const AttrInfo& info(AttrName attribute) noexcept;

enum class Presence : std::uint8_t { required, added, optional, unit };

struct AttrSpec {
  AttrName name{};
  Presence presence{};
  std::uint8_t since = 1;     ///< minor version
  std::uint8_t fallback = 0;  ///< added: value in versions before `since`

  /// Whether a bit of the flags word says that it is there.
  [[nodiscard]] constexpr bool flagged() const noexcept {
    return presence == Presence::optional || presence == Presence::unit;
  }
};

enum class Arity : std::uint8_t { one, any, maybe };

struct GroupSpec {
  std::string_view name;
  Arity arity{};
  std::uint8_t since = 1;
};

struct ResultSpec {
  std::uint8_t count = 0;  ///< of a fixed number
  bool variadic = false;
  std::uint8_t since = 1;
};

struct OpSpec {
  Opcode opcode{};
  std::string_view mnemonic;
  std::uint8_t since = 1;
  ResultSpec results;
  FixedList<AttrSpec, 5> attributes;
  FixedList<GroupSpec, 5> operands;
  FixedList<GroupSpec, 2> regions;

  [[nodiscard]] constexpr std::size_t operand_groups(Arity arity) const noexcept {
    std::size_t groups = 0;
    for (const GroupSpec& group : operands) groups += group.arity == arity ? 1 : 0;
    return groups;
  }
  [[nodiscard]] constexpr bool segmented() const noexcept {
    return operand_groups(Arity::maybe) > 0 || operand_groups(Arity::any) > 1;
  }
  [[nodiscard]] constexpr bool counts_results() const noexcept {
    return results.variadic || operand_groups(Arity::any) > 0;
  }
  /// Bits of the flags word in version 13.<minor>; 0: there is no flags word.
  [[nodiscard]] constexpr unsigned flag_bits(unsigned minor) const noexcept {
    unsigned bits = 0;
    for (const AttrSpec& attribute : attributes) bits += attribute.flagged() && attribute.since <= minor ? 1 : 0;
    for (const GroupSpec& group : operands) bits += group.arity == Arity::maybe && group.since <= minor ? 1 : 0;
    return bits;
  }
};

/// Every operation, in the order of their codes.
[[nodiscard]] std::span<const OpSpec> op_table() noexcept;
/// Row of a code, or null where no version known here has it.
[[nodiscard]] const OpSpec* find_op(std::uint64_t code) noexcept;
/// Whether the operation ends a block.
[[nodiscard]] bool is_terminator(Opcode opcode) noexcept;

}  // namespace tilegym::tile_ir
