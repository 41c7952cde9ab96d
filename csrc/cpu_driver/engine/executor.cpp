#include "cpu_driver/engine/executor.h"

#include <type_traits>

#include "cpu_driver/engine/inspect.h"
#include "cpu_driver/engine/region_run.h"
#include "cpu_driver/engine/tile_copy.h"
#include "cpu_driver/engine/tile_steps.h"
#include "cpu_driver/engine/wraps.h"

namespace tilegym::cpu {
namespace {

Jump jump_of(bool ok) {
  return ok ? Jump::none : Jump::fault;
}

class StepRun {
 public:
  explicit StepRun(Frame& frame) : frame_(frame) {}

  Jump operator()(const ScalarStep& step) {
    std::int64_t* slots = frame_.slots.data();
    for (const ScalarInstr& instr : step.instrs) {
      slots[instr.dst] = instr.fn(slots[instr.a], slots[instr.b], slots[instr.c]);
    }
    return Jump::none;
  }
  Jump operator()(const RegionStep& step) { return jump_of(run_region(step.region, frame_)); }
  Jump operator()(const CopyStep& step) { return jump_of(run_copy(step, frame_)); }
  Jump operator()(const MmaStep& step) { return jump_of(run_mma(step, frame_)); }
  Jump operator()(const ForStep& step);
  Jump operator()(const LoopStep& step);
  Jump operator()(const IfStep& step) {
    return run_steps(frame_.slot(step.condition) != 0 ? *step.then_body : *step.else_body, frame_);
  }
  Jump operator()(const JumpStep& step) { return step.jump; }
  Jump operator()(const AssertStep& step) { return jump_of(check_assertion(step, frame_)); }
  Jump operator()(const PrintStep& step) {
    print(step, frame_);
    return Jump::none;
  }
  Jump operator()(const ScanStep& step) {
    run_scan(step, frame_);
    return Jump::none;
  }
  Jump operator()(const RecodeStep& step) {
    run_recode(step, frame_);
    return Jump::none;
  }
  Jump operator()(const AtomicStep& step) { return jump_of(run_atomic(step, frame_)); }
  Jump operator()(const PackedStep& step) { return jump_of(run_packed(step, frame_)); }

 private:
  template <class Counter>
  Jump count_up(const ForStep& step);

  Frame& frame_;
};

/// What a loop does when its body ended with `jump`: goes on, or leaves with the jump for the steps around it.
bool leaves_loop(Jump& jump) {
  if (jump == Jump::none || jump == Jump::continue_) return false;
  if (jump == Jump::break_) jump = Jump::none;
  return true;
}

Jump StepRun::operator()(const ForStep& step) {
  return step.unsigned_compare ? count_up<std::uint64_t>(step) : count_up<std::int64_t>(step);
}

/// The range is that of the integers: a counter that would leave its width has passed the upper bound.
template <class Counter>
Jump StepRun::count_up(const ForStep& step) {
  const auto bits = static_cast<unsigned>(8 * lane_bytes(step.lane));
  const auto value = [&](SlotId slot) {
    return static_cast<Counter>(wrapped(frame_.slot(slot), bits, std::is_signed_v<Counter>));
  };
  const Counter upper = value(step.upper);
  const Counter stride = value(step.step);
  // A step that is not positive would never end; the dialect rules it out.
  if (stride <= 0) return Jump::none;
  for (Counter i = value(step.lower); i < upper;) {
    if (frame_.cancelled()) return Jump::fault;
    frame_.slots[step.induction] = wrapped(static_cast<std::int64_t>(i), bits, true);
    Jump jump = run_steps(*step.body, frame_);
    if (leaves_loop(jump)) return jump;
    if (__builtin_add_overflow(i, stride, &i)) break;
  }
  return Jump::none;
}

Jump StepRun::operator()(const LoopStep& step) {
  while (!frame_.cancelled()) {
    Jump jump = run_steps(*step.body, frame_);
    if (leaves_loop(jump)) return jump;
  }
  return Jump::fault;
}

}  // namespace

Jump run_steps(const Steps& steps, Frame& frame) {
  StepRun run(frame);
  for (const Step& step : steps) {
    const Jump jump = std::visit(run, static_cast<const Step::variant&>(step));
    if (jump != Jump::none) return jump;
  }
  return Jump::none;
}

}  // namespace tilegym::cpu
