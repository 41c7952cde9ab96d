#pragma once

#include "cpu_driver/engine/frame.h"
#include "cpu_driver/engine/plan.h"

namespace tilegym::cpu {

/// Whether the region stores to memory that one of its loads reads at another lane, so that storing strip by strip
/// could change what is loaded later.
[[nodiscard]] bool overlaps(const Region& region, const Frame& frame);

}  // namespace tilegym::cpu
