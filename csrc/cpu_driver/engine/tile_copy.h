#pragma once

#include "cpu_driver/engine/frame.h"
#include "cpu_driver/engine/plan.h"

namespace tilegym::cpu {

/// Copies a tile. False where an access was illegal; the frame then has the fault.
[[nodiscard]] bool run_copy(const CopyStep& step, Frame& frame);

/// Multiplies tiles, in place in memory where an operand allows it. False as above.
[[nodiscard]] bool run_mma(const MmaStep& step, Frame& frame);

}  // namespace tilegym::cpu
