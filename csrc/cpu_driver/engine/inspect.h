#pragma once

#include "cpu_driver/engine/frame.h"
#include "cpu_driver/engine/plan.h"

namespace tilegym::cpu {

/// Whether all elements of the condition are true; records the fault with the first false one where not.
[[nodiscard]] bool check_assertion(const AssertStep& step, Frame& frame);

/// Bits of one element in memory format, zero-extended; `element` counts in row-major order.
[[nodiscard]] std::uint64_t bits_at(const InspectedTile& tile, std::int64_t element, const Frame& frame);
void put_bits(const InspectedTile& tile, std::int64_t element, std::uint64_t bits, Frame& frame);

/// Writes the text to standard output in one piece, tiles as nested brackets. Format expressions follow printf.
void print(const PrintStep& step, const Frame& frame);

}  // namespace tilegym::cpu
