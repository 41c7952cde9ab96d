#pragma once

#include "cpu_driver/engine/plan.h"

namespace tilegym::cpu {

/// What an atomic operation makes of memory. The order of the read-modify-write ones is that of the bytecode's `mode`.
enum class AtomicMode : std::uint8_t { and_, or_, xor_, add, addf, max, min, umax, umin, exchange, compare_exchange };

/// Null for a mode that the element type does not have. Integers have all modes but addf, at 32 and 64 bits; addf is
/// rounded to nearest even and exists for f16, bf16, f32 and f64; exchange and compare-and-swap go by bits.
[[nodiscard]] AtomicFn find_atomic(AtomicMode mode, tile_ir::ElementType element) noexcept;

}  // namespace tilegym::cpu
