#pragma once

#include <span>

#include "cpu_driver/engine/frame.h"
#include "cpu_driver/engine/plan.h"

namespace tilegym::cpu {

/// The predicate that holds for (b, a) where `predicate` holds for (a, b).
[[nodiscard]] tile_ir::Predicate mirrored(tile_ir::Predicate predicate);

/// Value of a linear form at `index` (one entry per stride, trailing strides without an entry count as index 0).
[[nodiscard]] std::int64_t evaluate(const Linear& linear, std::span<const std::int64_t> index, const Frame& frame);

/// Address, stride and range in bounds of the row at the outer indices `outer`; `lanes` is the inner extent.
void place_row(const Access& access, std::span<const std::int64_t> outer, std::int64_t lanes, const Frame& frame,
               RowAccess& row);

/// The same for a row that is about to be accessed. False
/// where the range holds an address that must not be accessed; the frame then has the fault.
[[nodiscard]] bool start_row(const Access& access, std::span<const std::int64_t> outer, std::int64_t lanes,
                             Frame& frame, RowAccess& row);

/// Address of one lane of an irregular row; false where the lane is out of bounds.
[[nodiscard]] bool lane_of_access(const Access& access, std::span<const std::int64_t> outer, std::int64_t lane,
                                  const Frame& frame, std::uintptr_t& address);

/// Whether all indices below `extents` satisfy every bound.
[[nodiscard]] bool fully_in_bounds(const Access& access, std::span<const std::int64_t> extents, const Frame& frame);

/// Whether, besides, everything between the first and the last byte of a tile of `extents` may be accessed.
[[nodiscard]] bool fully_allowed(const Access& access, std::span<const std::int64_t> extents, const Frame& frame);

}  // namespace tilegym::cpu
