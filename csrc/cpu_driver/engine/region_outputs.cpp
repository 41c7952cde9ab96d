#include <algorithm>
#include <utility>

#include "common/check.h"
#include "cpu_driver/engine/region_emit.h"

/// The ends of a region: stores, reductions, slots and buffers.
namespace tilegym::cpu {
namespace {

StripFn copy_kernel(Lane lane, bool from_scalar) {
  return find_strip({.op = StripOp::copy, .lane = lane, .scalar_operands = std::uint8_t{from_scalar}});
}

}  // namespace

Status RegionEmitter::emit_outputs() {
  if (outputs_.store) TILEGYM_TRY(emit_store(*outputs_.store));
  if (outputs_.reduce) TILEGYM_TRY(emit_reduce(*outputs_.reduce));
  for (const auto& [id, slot] : outputs_.slots) instrs_->push_back(SlotInstr{graph_[id].lane, slot, strip_of(id)});
  for (const auto& [id, out] : outs_) TILEGYM_TRY(write_out(id, out));
  return {};
}

Status RegionEmitter::emit_store(const StoreOut& store) {
  const Node& value = graph_[store.value];
  const tile_ir::ElementType element = store.element;
  const auto bytes = static_cast<std::uint32_t>(tile_ir::byte_size(element));
  const StoreFn contiguous = find_store(element);
  const ScatterFn scatter = find_scatter(element);
  if (contiguous == nullptr || scatter == nullptr) return unsupported(store.place, tile_ir::name(element));
  const LocationId src = strip_of(store.value);
  if (store.access) {
    const auto width = static_cast<std::uint32_t>(lane_bytes(value.lane));
    instrs_->push_back(
        StoreInstr{contiguous, scatter, src, computed_last(store, src), width, add_access(*store.access)});
    return {};
  }
  const LocationId mask = store.mask == kNoNode ? kNoLocation : strip_of(store.mask);
  const bool half_bytes = tile_ir::bit_width(element) == 4;
  instrs_->push_back(ScatterInstr{scatter, strip_of(store.addresses), src, mask, half_bytes, bytes, store.place});
  return {};
}

/// Whether the stored lanes come from the region's last instruction, so that nothing is read from memory after them.
bool RegionEmitter::computed_last(const StoreOut& store, LocationId src) const {
  if (!stored_as_lanes(store.element) || instrs_->empty() || scan_.order.empty()) return false;
  const auto* last = std::get_if<ComputeInstr>(&instrs_->back());
  return last != nullptr && last->dst == src && region_.locations[src].kind == LocationKind::strip_register;
}

Status RegionEmitter::write_out(NodeId id, const PlannedOut& out) {
  if (out.direct && graph_[id].pending()) return {};
  const Node& node = graph_[id];
  const tile_ir::ElementType format = buffer_format(node.element);
  const LocationId target = out_location(out, format);
  const StoreFn store = find_store(format);
  if (store == nullptr) return unsupported(node.place, tile_ir::name(node.element));
  instrs_->push_back(MoveInstr{store, target, strip_of(id), false});
  return {};
}

LocationId RegionEmitter::accumulator_location(const ReduceOut& reduce, std::size_t index, std::uint32_t bytes) {
  std::vector<std::int64_t> strides = reduce.result_strides;
  strides.insert(strides.begin() + static_cast<std::ptrdiff_t>(reduce.dim), 0);
  emitter_.touch(reduce.buffers[index]);
  return add({LocationKind::buffer_strip, reduce.buffers[index], bytes, outer(strides)});
}

ReducedOperand RegionEmitter::reduced_operand(const ReduceOut& reduce, std::size_t index, bool fold) {
  const Lane lane = graph_[reduce.operands[index]].lane;
  const auto bytes = static_cast<std::uint32_t>(lane_bytes(lane));
  ReducedOperand operand{.lane = lane, .identity = reduce.identities[index]};
  operand.fill = find_strip({.op = StripOp::copy, .lane = lane, .scalar_operands = 1});
  operand.copy = find_strip({.op = StripOp::copy, .lane = lane});
  operand.source = strip_of(reduce.operands[index]);
  operand.element = new_register(lane);
  operand.accumulator = fold ? lasting_register(lane) : accumulator_location(reduce, index, bytes);
  if (!fold) return operand;
  if (!reduce.slots.empty()) {
    operand.destination = add({LocationKind::slot, reduce.slots[index], 0, {}});
    return operand;
  }
  emitter_.touch(reduce.buffers[index]);
  operand.destination = add({LocationKind::buffer_row, reduce.buffers[index], bytes, reduce.result_strides});
  return operand;
}

Status RegionEmitter::emit_reduce(const ReduceOut& reduce) {
  Reduction reduction;
  reduction.fold = reduce.dim + 1 == outputs_.shape.size();
  reduction.dim = reduce.dim;
  for (std::size_t i = 0; i < reduce.operands.size(); ++i) {
    reduction.operands.push_back(reduced_operand(reduce, i, reduction.fold));
    const ReducedOperand& operand = reduction.operands.back();
    places_[reduce.arguments[2 * i]] = {operand.element, false};
    places_[reduce.arguments[2 * i + 1]] = {operand.accumulator, false};
  }
  instrs_ = &reduction.body;
  TILEGYM_TRY(emit_body(reduce, reduction));
  instrs_ = &region_.instrs;
  region_.reductions.push_back(std::move(reduction));
  instrs_->push_back(AccumulateInstr{static_cast<std::uint32_t>(region_.reductions.size() - 1)});
  return {};
}

Result<std::vector<LocationId>> RegionEmitter::emit_yields(const ReduceOut& reduce,
                                                           const std::vector<LocationId>& accumulators) {
  RegionOutputs yields;
  for (const NodeId id : reduce.yields) yields.buffers.push_back({id});
  for (const NodeId id : scan_region(graph_, yields).order) TILEGYM_TRY(emit_node(id));
  std::vector<LocationId> results;
  for (std::size_t i = 0; i < reduce.yields.size(); ++i) {
    LocationId result = strip_of(reduce.yields[i]);
    if (result != accumulators[i] && std::ranges::find(accumulators, result) != accumulators.end()) {
      // Another operand's accumulator, which is set before this one.
      const Lane lane = graph_[reduce.yields[i]].lane;
      const LocationId aside = new_register(lane);
      instrs_->push_back(ComputeInstr{copy_kernel(lane, false), aside, result, kNoLocation, kNoLocation});
      result = aside;
    }
    results.push_back(result);
  }
  return results;
}

Status RegionEmitter::emit_scan(const ReduceOut& combination, ScanStep& step) {
  std::vector<LocationId> accumulators;
  for (std::size_t i = 0; i < step.operands.size(); ++i) {
    ScannedOperand& operand = step.operands[i];
    operand.copy = copy_kernel(operand.lane, false);
    operand.element = new_register(operand.lane);
    operand.accumulator = new_register(operand.lane);
    places_[combination.arguments[2 * i]] = {operand.element, false};
    places_[combination.arguments[2 * i + 1]] = {operand.accumulator, false};
    accumulators.push_back(operand.accumulator);
  }
  TILEGYM_ASSIGN(const std::vector<LocationId> yields, emit_yields(combination, accumulators));
  for (std::size_t i = 0; i < yields.size(); ++i) step.operands[i].yielded = yields[i];
  step.body = std::move(region_);
  return {};
}

Status RegionEmitter::emit_body(const ReduceOut& reduce, Reduction& reduction) {
  std::vector<LocationId> accumulators;
  for (const ReducedOperand& operand : reduction.operands) accumulators.push_back(operand.accumulator);
  TILEGYM_ASSIGN(const std::vector<LocationId> yields, emit_yields(reduce, accumulators));
  for (std::size_t i = 0; i < yields.size(); ++i) reduction.operands[i].result = yields[i];
  auto* last = reduction.body.empty() ? nullptr : std::get_if<ComputeInstr>(&reduction.body.back());
  if (reduce.yields.size() == 1 && last != nullptr && last->dst == reduction.operands[0].result) {
    // The common case, one operation: its kernel writes the accumulator itself.
    last->dst = reduction.operands[0].result = reduction.operands[0].accumulator;
  }
  return {};
}

}  // namespace tilegym::cpu
