#pragma once

#include <cstdint>
#include <span>

#include "common/result.h"
#include "validation/tally.h"

namespace tilegym::validation {

/// What a comparison of that shape keeps. Errors: those of compare() for tolerance, detail and shape.
[[nodiscard]] Result<TallyPlan> make_plan(std::span<const std::int64_t> shape, const Tolerance& tolerance,
                                          const Detail& detail);
[[nodiscard]] Status check_shapes(const ArrayView& actual, const ArrayView& expected);
[[nodiscard]] std::int64_t count_of(std::span<const std::int64_t> shape);

/// Every how manyth element of `size` goes into the percentiles.
[[nodiscard]] std::int64_t sample_stride(std::int64_t size) noexcept;

}  // namespace tilegym::validation
