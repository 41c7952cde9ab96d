#pragma once

#include "cpu_driver/engine/frame.h"
#include "cpu_driver/engine/plan.h"

/// Steps that work on whole tiles in buffers.
namespace tilegym::cpu {

void run_scan(const ScanStep& step, Frame& frame);
void run_recode(const RecodeStep& step, Frame& frame);
/// False where an access was illegal; the frame then has the fault.
[[nodiscard]] bool run_atomic(const AtomicStep& step, Frame& frame);
[[nodiscard]] bool run_packed(const PackedStep& step, Frame& frame);

}  // namespace tilegym::cpu
