#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "tile_ir/module.h"
#include "tile_ir/op_table.h"

namespace tilegym::tile_ir {

class OpCheck;

/// The types that an operand or a result may have.
struct TypeClass {
  /// For texts: "a tile of i32".
  std::string_view name;
  /// Bit e: tiles whose elements are ElementType e.
  std::uint32_t elements = 0;
  /// Tiles of pointers.
  bool pointers = false;
  /// Tiles of rank 0 only.
  bool scalar = false;
  /// Bit k: all types of TypeKind k.
  std::uint16_t kinds = 0;

  [[nodiscard]] bool accepts(const Type& type) const noexcept;
};

/// Parts of an operation as a set: bits 0 to 4 are operand groups, bits 8 to 10 results. A variadic group stands for
/// each of its members, an absent one for nothing.
using Parts = std::uint16_t;
inline constexpr unsigned kFirstResultBit = 8;

enum class Agreement : std::uint8_t {
  type,     // the same type
  shape,    // tiles of the same shape
  rank,     // tiles of the same rank
  element,  // tiles of the same element type
  pointee,  // the first part is a tile of pointers to the element of each other part, all of the same shape
};

/// What the parts have in common; each part is compared with the first one.
struct Relation {
  Agreement agreement{};
  Parts parts = 0;
};

/// Values an attribute may have.
struct AttrRule {
  AttrName attribute{};
  /// Bit v: the value v. Values without a bit are refused, or with `needs_f32` values with a bit where the first result
  /// is no tile of f32.
  std::uint32_t values = 0;
  bool needs_f32 = false;
};

/// What an operation does to memory; the body of a reduction may do nothing.
enum class Effects : std::uint8_t { free, nested, effects };

using Check = void (*)(OpCheck&);

/// One row of verify_rules.def.
struct OpRule {
  Opcode opcode{};
  Effects effects{};
  FixedList<const TypeClass*, 5> operands;
  /// The last one stands for all that follow.
  FixedList<const TypeClass*, 3> results;
  FixedList<Relation, 4> relations;
  FixedList<AttrRule, 3> attributes;
  /// What does not fit into a column; run only where types and relations hold.
  FixedList<Check, 3> checks;
};

/// The rule of an operation, or null where it cannot stand in a function.
[[nodiscard]] const OpRule* find_rule(Opcode opcode) noexcept;

/// Name of a value of an enum attribute ("nearest_even"); empty where the attribute is no enum.
[[nodiscard]] std::string_view value_name(AttrName attribute, std::uint64_t value) noexcept;
/// Names of a set of them, bit v for the value v: "zero, positive_inf".
[[nodiscard]] std::string value_names(AttrName attribute, std::uint32_t values);

}  // namespace tilegym::tile_ir
