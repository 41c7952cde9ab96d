#pragma once

#include "cpu_driver/engine/frame.h"
#include "cpu_driver/engine/plan.h"

namespace tilegym::cpu {

/// Runs a region over its whole iteration space. False where an access was illegal; the frame then has the fault.
[[nodiscard]] bool run_region(const Region& region, Frame& frame);

}  // namespace tilegym::cpu
