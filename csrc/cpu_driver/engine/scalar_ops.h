#pragma once

#include "cpu_driver/engine/plan.h"
#include "cpu_driver/kernels/kernels.h"

namespace tilegym::cpu {

/// Scalar twin of find_strip() for integers and i1: operands and result are sign-extended to 64 bits, arithmetic wraps
/// at the lane's width. Division and remainder by zero give 0, shifts by the width or more give 0 (or the sign). Null
/// for float lanes.
[[nodiscard]] ScalarFn find_scalar(const StripKey& key) noexcept;

/// Scalar functions that lowering itself needs, all on 64-bit values.
[[nodiscard]] std::int64_t scalar_add(std::int64_t a, std::int64_t b, std::int64_t) noexcept;
[[nodiscard]] std::int64_t scalar_sub(std::int64_t a, std::int64_t b, std::int64_t) noexcept;
[[nodiscard]] std::int64_t scalar_mul(std::int64_t a, std::int64_t b, std::int64_t) noexcept;
[[nodiscard]] std::int64_t scalar_and(std::int64_t a, std::int64_t b, std::int64_t) noexcept;
/// a * b of a non-negative b, at most 2^62; 2^62 where a, an unsigned number of 64 bits, is that large itself.
[[nodiscard]] std::int64_t scalar_capped_mul(std::int64_t a, std::int64_t b, std::int64_t) noexcept;
/// a / b rounded up, of non-negative values; 0 where b is 0.
[[nodiscard]] std::int64_t scalar_ceil_div(std::int64_t a, std::int64_t b, std::int64_t) noexcept;
[[nodiscard]] std::int64_t scalar_copy(std::int64_t a, std::int64_t, std::int64_t) noexcept;

}  // namespace tilegym::cpu
