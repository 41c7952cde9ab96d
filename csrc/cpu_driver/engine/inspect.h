#pragma once

#include "cpu_driver/engine/frame.h"
#include "cpu_driver/engine/plan.h"

namespace tilegym::cpu {

/// Whether all elements of the condition are true; records the fault with the first false one where not.
[[nodiscard]] bool check_assertion(const AssertStep& step, Frame& frame);

/// Writes the text to standard output in one piece, tiles as nested brackets. Format expressions follow printf.
void print(const PrintStep& step, const Frame& frame);

}  // namespace tilegym::cpu
