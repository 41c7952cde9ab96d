#pragma once

#include "cpu_driver/engine/frame.h"
#include "cpu_driver/engine/plan.h"

namespace tilegym::cpu {

/// Runs steps in order. Jump::none and the structured jumps say how they ended; Jump::fault: the frame has the fault.
[[nodiscard]] Jump run_steps(const Steps& steps, Frame& frame);

}  // namespace tilegym::cpu
