#pragma once

#include <span>

#include "cpu_driver/engine/frame.h"
#include "cpu_driver/engine/plan.h"

/// Index tiles are symbolic: base and strides, as if integers had no width. What narrow arithmetic makes of them where
/// they leave their width is worked out here, so that a plan needs no second form for the rare kernel that wraps.
namespace tilegym::cpu {

/// `value` as an integer of `bits` bits holds it.
[[nodiscard]] std::int64_t wrapped(std::int64_t value, unsigned bits, bool is_signed) noexcept;

/// What to add to the linear form at lane `lane` of the row at the outer indices `outer`.
[[nodiscard]] std::int64_t correction(std::span<const Wrap> wraps, std::span<const std::int64_t> outer,
                                      std::int64_t lane, const Frame& frame);

/// Whether lanes [first, first + lanes) of the row have the same correction.
[[nodiscard]] bool is_regular(std::span<const Wrap> wraps, std::span<const std::int64_t> outer, std::int64_t first,
                              std::int64_t lanes, const Frame& frame);

/// Whether no index below `extents` leaves its width.
[[nodiscard]] bool never_wraps(std::span<const Wrap> wraps, std::span<const std::int64_t> extents, const Frame& frame);

}  // namespace tilegym::cpu
