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

/// The form that `bytes` has for `tile`, or nothing where the length fits none.
[[nodiscard]] std::optional<DenseForm> dense_form(const Type& tile, std::span<const std::byte> bytes) noexcept;

/// Bytes one element takes in a constant tile.
[[nodiscard]] std::size_t dense_element_bytes(ElementType type) noexcept;

}  // namespace tilegym::tile_ir
