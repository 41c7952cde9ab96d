#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tile_ir/types.h"

namespace tilegym::tile_ir {

/// How the bytes of a constant tile stand for its elements.
enum class DenseForm : std::uint8_t {
  splat,   // one element for all
  packed,  // i1 only: eight elements to a byte, lowest bit first
  full,    // every element in whole bytes
};

/// The form that `bytes` has for `tile`, or nothing where the length fits none. A tile of one element is a splat.
[[nodiscard]] std::optional<DenseForm> dense_form(const Type& tile, std::span<const std::byte> bytes) noexcept;

/// Bits that carry a value in constants and attributes: 19 for tf32, else the width of the type.
[[nodiscard]] unsigned significant_bits(ElementType type) noexcept;
/// The largest number of that many bits.
[[nodiscard]] std::uint64_t largest(unsigned bits) noexcept;

}  // namespace tilegym::tile_ir
