#pragma once

#include <cstdint>
#include <string_view>

namespace tilegym::tile_ir {

/// Operation codes as the bytecode stores them; `opcodes.def` is the only list.
enum class Opcode : std::uint16_t {
#define TILE_IR_OP(identifier, mnemonic, code, ...) identifier = code,
#include "tile_ir/opcodes.def"
#undef TILE_IR_OP
};

/// Names of the attributes an operation can carry; `attributes.def` is the only list.
enum class AttrName : std::uint8_t {
#define TILE_IR_ATTR(identifier, ...) identifier,
#include "tile_ir/attributes.def"
#undef TILE_IR_ATTR
};

/// Mnemonic without dialect prefix ("addf"); "unknown" for a code that is not in the table.
[[nodiscard]] std::string_view name(Opcode opcode) noexcept;
[[nodiscard]] std::string_view name(AttrName attribute) noexcept;

enum class Signedness : std::uint8_t { unsigned_ = 0, signed_ = 1 };
enum class Rounding : std::uint8_t {
  nearest_even = 0,
  zero = 1,
  negative_inf = 2,
  positive_inf = 3,
  approx = 4,
  full = 5,
  nearest_int_to_zero = 6,
};
enum class Predicate : std::uint8_t {
  equal = 0,
  not_equal = 1,
  less = 2,
  less_equal = 3,
  greater = 4,
  greater_equal = 5
};
enum class Ordering : std::uint8_t { unordered = 0, ordered = 1 };

}  // namespace tilegym::tile_ir
