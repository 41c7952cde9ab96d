#include <algorithm>
#include <utility>

#include "common/check.h"
#include "cpu_driver/engine/liveness.h"
#include "cpu_driver/engine/lowering.h"
#include "cpu_driver/engine/region_scan.h"

namespace tilegym::cpu {

using tile_ir::AttrName;

Status Lowering::compute_before(const Operation& op) {
  for (const ValueId value : values_used_inside(op)) {
    const NodeId id = node_of(value);
    if (id == kNoNode || !graph_[id].pending() || graph_[id].uses == 0) continue;
    const bool again = is_cheap(graph_, id) && graph_[id].kind != NodeKind::load && !graph_[id].shape.empty();
    if (!again) TILEGYM_TRY(builder_.materialise(id));
  }
  return writes_memory(op) ? builder_.flush_loads() : Status{};
}

Status Lowering::lower_loop_body(const Operation& op, Steps& steps) {
  const std::uint32_t outer = std::exchange(builder_.loop, ++loops_);
  Status status = emitter_.nested(true, steps, [&] { return lower_block(op.body()); });
  builder_.loop = outer;
  return status;
}

Status Lowering::lower_for(const Operation& op) {
  TILEGYM_TRY(compute_before(op));
  ForStep step{.induction = emitter_.new_slot(), .unsigned_compare = op.flag(AttrName::unsigned_cmp)};
  TILEGYM_ASSIGN(step.lower, slot_of(op.group(0)[0]));
  TILEGYM_ASSIGN(step.upper, slot_of(op.group(1)[0]));
  TILEGYM_ASSIGN(step.step, slot_of(op.group(2)[0]));
  step.lane = graph_[node_of(op.group(0)[0])].lane;
  const std::span<const ValueId> arguments = op.body().arguments;
  TILEGYM_ASSIGN(const Carriers carriers, carriers_from(op, arguments.subspan(1), op.group(3)));
  bind_slot(arguments[0], step.induction);
  bind_carried(carriers, arguments.subspan(1), loops_ + 1);
  const Carriers* continued = std::exchange(continue_targets_, &carriers);
  const Carriers* broken = std::exchange(break_targets_, nullptr);
  step.body = std::make_unique<Steps>();
  const Status status = lower_loop_body(op, *step.body);
  continue_targets_ = continued;
  break_targets_ = broken;
  TILEGYM_TRY(status);
  touch(carriers);
  emitter_.append(std::move(step));
  bind_carried(carriers, op.results, builder_.loop);
  return {};
}

Status Lowering::lower_loop(const Operation& op) {
  TILEGYM_TRY(compute_before(op));
  const std::span<const ValueId> arguments = op.body().arguments;
  TILEGYM_ASSIGN(const Carriers carriers, carriers_from(op, arguments, op.group(0)));
  TILEGYM_ASSIGN(const Carriers results, carriers_for(op.results));
  bind_carried(carriers, arguments, loops_ + 1);
  const Carriers* continued = std::exchange(continue_targets_, &carriers);
  const Carriers* broken = std::exchange(break_targets_, &results);
  LoopStep step{std::make_unique<Steps>()};
  const Status status = lower_loop_body(op, *step.body);
  continue_targets_ = continued;
  break_targets_ = broken;
  TILEGYM_TRY(status);
  touch(carriers);
  touch(results);
  emitter_.append(std::move(step));
  bind_carried(results, op.results, builder_.loop);
  return {};
}

Status Lowering::lower_if(const Operation& op) {
  TILEGYM_TRY(compute_before(op));
  IfStep step;
  TILEGYM_ASSIGN(step.condition, slot_of(op.operands[0]));
  TILEGYM_ASSIGN(const Carriers results, carriers_for(op.results));
  const Carriers* outer = std::exchange(yield_targets_, &results);
  step.then_body = std::make_unique<Steps>();
  step.else_body = std::make_unique<Steps>();
  Status status = emitter_.nested(false, *step.then_body, [&] { return lower_block(op.body(0)); });
  if (status.ok() && op.regions.size() > 1 && !op.regions[1].blocks.empty()) {
    status = emitter_.nested(false, *step.else_body, [&] { return lower_block(op.body(1)); });
  }
  yield_targets_ = outer;
  TILEGYM_TRY(std::move(status));
  touch(results);
  emitter_.append(std::move(step));
  bind_carried(results, op.results, builder_.loop);
  return {};
}

Status Lowering::lower_yield(const Operation& op) {
  return yield_targets_ == nullptr ? Status{} : assign(*yield_targets_, op.operands);
}

Status Lowering::lower_continue(const Operation& op) {
  if (continue_targets_ == nullptr) return Error{"continue: wanted a loop around it, got none"};
  TILEGYM_TRY(assign(*continue_targets_, op.operands));
  emitter_.append(JumpStep{Jump::continue_});
  return {};
}

Status Lowering::lower_break(const Operation& op) {
  if (break_targets_ == nullptr) return Error{"break: wanted a loop around it, got none"};
  TILEGYM_TRY(assign(*break_targets_, op.operands));
  emitter_.append(JumpStep{Jump::break_});
  return {};
}

Status Lowering::lower_return(const Operation&) {
  emitter_.append(JumpStep{Jump::return_});
  return {};
}

}  // namespace tilegym::cpu
