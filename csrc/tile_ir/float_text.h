#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tile_ir/types.h"

namespace tilegym::tile_ir {

/// Appends a float as LLVM writes it in attributes: six significant digits in scientific form where they lead back to
/// the same value, else as many as the format needs, and hexadecimal bits for infinities and NaN.
/// Returns whether it was hexadecimal. `bits`: as element_bits() gives them.
bool append_float(std::string& out, ElementType type, std::uint64_t bits);

[[nodiscard]] bool is_nan(ElementType type, std::uint64_t bits) noexcept;

/// The value as an integer, where it is one from 0 to 2^64 - 1 and not a negative zero.
[[nodiscard]] std::optional<std::uint64_t> exact_unsigned(ElementType type, std::uint64_t bits) noexcept;

}  // namespace tilegym::tile_ir
