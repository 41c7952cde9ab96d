#include "cpu_driver/engine/region_builder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "common/check.h"
#include "cpu_driver/engine/region_emit.h"
#include "cpu_driver/engine/region_scan.h"

namespace tilegym::cpu {

Status RegionBuilder::emit(RegionOutputs outputs) {
  for (const NodeId root : consumed_roots(outputs)) TILEGYM_TRY(prepare(root, outputs.shape));
  for (const BufferOut& out : outputs.buffers) TILEGYM_TRY(prepare(out.node, outputs.shape));
  for (const auto& [id, slot] : outputs.slots) TILEGYM_TRY(prepare(id, outputs.shape));
  const RegionScan scan = scan_region(graph_, outputs);
  keep_shared(scan, outputs);
  std::map<NodeId, PlannedOut> outs;
  std::vector<BufferId> taken;
  for (const BufferOut& out : outputs.buffers) {
    outs[out.node] = plan_out(out, outputs, scan, taken);
    taken.push_back(outs[out.node].buffer);
  }
  RegionEmitter emitter(graph_, emitter_, outputs, scan, outs);
  TILEGYM_ASSIGN(Region region, emitter.emit());
  plan_.register_bytes = std::max(plan_.register_bytes, emitter.register_bytes());
  for (const BufferId buffer : taken) emitter_.touch(buffer);
  emitter_.append(RegionStep{std::move(region)});
  consume_region(graph_, scan, outputs);
  bind_outputs(outputs, outs);
  return {};
}

Status RegionBuilder::prepare(NodeId id, const Shape& shape) {
  if (!graph_[id].pending()) return {};
  if (graph_[id].shape.empty() && !shape.empty()) {
    TILEGYM_TRY(slot_of(id));
    return {};
  }
  if (graph_[id].kind == NodeKind::broadcast) return resolve_broadcast(id);
  const std::vector<NodeId> operands = graph_[id].operands;
  for (const NodeId operand : operands) {
    if (operand != kNoNode) TILEGYM_TRY(prepare(operand, shape));
  }
  return {};
}

Status RegionBuilder::resolve_broadcast(NodeId id) {
  const NodeId source = graph_[id].operands[0];
  TILEGYM_TRY(materialise(source));
  if (graph_[source].kind == NodeKind::uniform) {
    graph_[id].kind = NodeKind::uniform;
    graph_[id].shape.clear();
    graph_[id].slot = graph_[source].slot;
  } else {
    std::vector<std::int64_t> strides;
    for (const std::size_t d : graph_[id].dimension_of) {
      strides.push_back(d == kStretched ? 0 : graph_[source].strides[d]);
    }
    graph_.bind(id, graph_[source].buffer, graph_[source].format, std::move(strides));
  }
  graph_[id].operands.clear();
  graph_.consume(source);
  return {};
}

void RegionBuilder::keep_shared(const RegionScan& scan, RegionOutputs& outputs) {
  for (const NodeId id : scan.order) {
    if (graph_[id].uses <= scan.references_to(id) || is_cheap(graph_, id)) continue;
    const auto is_out = [id](const auto& pair) { return pair.first == id; };
    if (std::ranges::any_of(outputs.slots, is_out)) continue;
    if (std::ranges::any_of(outputs.buffers, [id](const BufferOut& out) { return out.node == id; })) continue;
    if (outputs.shape.empty()) {
      outputs.slots.emplace_back(id, emitter_.new_slot());
    } else {
      outputs.buffers.push_back({id});
    }
  }
}

PlannedOut RegionBuilder::plan_out(const BufferOut& out, const RegionOutputs& outputs, const RegionScan& scan,
                                   const std::vector<BufferId>& taken) {
  const Node& node = graph_[out.node];
  std::optional<BufferId> buffer;
  if (out.target && (out.force || may_overwrite(*out.target, outputs.shape, scan))) buffer = out.target;
  if (!buffer && node.pending()) buffer = dying_buffer(node, scan, taken);
  if (!buffer) {
    buffer = emitter_.new_buffer(static_cast<std::size_t>(element_count(outputs.shape)) *
                                 tile_ir::byte_size(buffer_format(node.element)));
  }
  return {*buffer, node.pending() && !read_after(*buffer, out.node, outputs, scan)};
}

bool RegionBuilder::may_overwrite(BufferId buffer, const Shape& shape, const RegionScan& scan) const {
  std::uint32_t served = 0;
  for (const auto& [id, references] : scan.references) {
    const Node& leaf = graph_[id];
    if (leaf.kind != NodeKind::buffer || leaf.buffer != buffer) continue;
    if (leaf.strides != row_major(shape)) return false;
    served += references;
  }
  return graph_.buffer_uses(buffer) == served;
}

std::optional<BufferId> RegionBuilder::dying_buffer(const Node& node, const RegionScan& scan,
                                                    const std::vector<BufferId>& taken) const {
  for (const auto& [id, references] : scan.references) {
    const Node& leaf = graph_[id];
    const bool candidate = leaf.kind == NodeKind::buffer && leaf.owned && leaf.loop == loop &&
                           leaf.format == buffer_format(node.element) && leaf.shape == node.shape;
    if (!candidate || std::ranges::find(taken, leaf.buffer) != taken.end()) continue;
    if (may_overwrite(leaf.buffer, node.shape, scan)) return leaf.buffer;
  }
  return std::nullopt;
}

bool RegionBuilder::read_after(BufferId buffer, NodeId writer, const RegionOutputs& outputs,
                               const RegionScan& scan) const {
  const auto in_buffer = [&](NodeId id) {
    return id != kNoNode && graph_[id].kind == NodeKind::buffer && graph_[id].buffer == buffer;
  };
  if (std::ranges::any_of(consumed_roots(outputs), in_buffer)) return true;
  const auto position = std::ranges::find(scan.order, writer);
  return std::any_of(position == scan.order.end() ? position : position + 1, scan.order.end(),
                     [&](NodeId id) { return std::ranges::any_of(graph_[id].operands, in_buffer); });
}

void RegionBuilder::bind_outputs(const RegionOutputs& outputs, const std::map<NodeId, PlannedOut>& outs) {
  for (const auto& [id, out] : outs) {
    if (!graph_[id].pending()) continue;
    graph_.bind(id, out.buffer, buffer_format(graph_[id].element), row_major(outputs.shape));
    graph_[id].loop = loop;
    graph_[id].owned = true;
  }
  for (const auto& [id, slot] : outputs.slots) {
    graph_[id].kind = NodeKind::uniform;
    graph_[id].slot = slot;
  }
}

Result<SlotId> RegionBuilder::slot_of(NodeId id) {
  TILEGYM_CHECK(graph_[id].shape.empty());
  if (graph_[id].kind == NodeKind::uniform) return graph_[id].slot;
  RegionOutputs outputs;
  outputs.slots.emplace_back(id, emitter_.new_slot());
  TILEGYM_TRY(emit(std::move(outputs)));
  return graph_[id].slot;
}

Status RegionBuilder::materialise(NodeId id) {
  if (!graph_[id].pending()) return {};
  if (graph_[id].shape.empty()) {
    TILEGYM_TRY(slot_of(id));
    return {};
  }
  if (graph_[id].kind == NodeKind::broadcast) return resolve_broadcast(id);
  if (graph_[id].kind == NodeKind::load && is_cheap(graph_, id)) return copy_load(id);
  RegionOutputs outputs{.shape = graph_[id].shape};
  outputs.buffers.push_back({id});
  return emit(std::move(outputs));
}

Status RegionBuilder::copy_load(NodeId id) {
  const Node node = graph_[id];
  std::uint64_t padding = 0;
  if (!node.operands.empty()) {
    const auto constant = emitter_.constant_of(graph_[node.operands[0]].slot);
    if (!constant) {
      RegionOutputs outputs{.shape = node.shape};
      outputs.buffers.push_back({id});
      return emit(std::move(outputs));
    }
    padding = memory_bits(node.element, *constant);
  }
  const std::size_t bytes = tile_ir::byte_size(node.element);
  const BufferId buffer = emitter_.new_buffer(static_cast<std::size_t>(element_count(node.shape)) * bytes);
  CopyStep step{.extents = node.shape, .element_bytes = static_cast<std::uint32_t>(bytes), .padding = padding};
  step.dst = {.buffer = buffer, .strides = row_major(node.shape)};
  step.src = {.in_memory = true, .access = node.access};
  emitter_.touch(buffer);
  emitter_.append(std::move(step));
  for (const NodeId operand : node.operands) graph_.consume(operand);
  graph_.bind(id, buffer, node.element, row_major(node.shape));
  graph_[id].loop = loop;
  graph_[id].owned = true;
  return {};
}

Result<NodeId> RegionBuilder::row_major_buffer(NodeId id, const Shape& shape, tile_ir::ElementType element) {
  const tile_ir::ElementType format = buffer_format(element);
  TILEGYM_TRY(materialise(id));
  const Node node = graph_[id];
  const bool in_place = node.kind == NodeKind::buffer && node.format == format && node.strides == row_major(shape);
  if (in_place) return id;
  Node lanes{.kind = NodeKind::compute, .shape = shape, .element = format, .lane = node.lane, .operands = {id}};
  lanes.key = {.op = StripOp::copy, .lane = node.lane};
  lanes.place = node.place;
  const NodeId copy = graph_.add(std::move(lanes));
  ++graph_[id].uses;
  RegionOutputs outputs{.shape = shape};
  outputs.buffers.push_back({copy});
  TILEGYM_TRY(emit(std::move(outputs)));
  return copy;
}

Status RegionBuilder::emit_store(StoreOut store, const Shape& shape) {
  RegionOutputs outputs{.shape = shape, .store = std::move(store)};
  for (const NodeId root : consumed_roots(outputs)) TILEGYM_TRY(prepare(root, shape));
  const RegionScan scan = scan_region(graph_, outputs);
  // Whether computed addresses meet what is stored is not known before they are all there.
  const bool scattered = !outputs.store->access;
  for (const NodeId id : graph_.pending_loads()) {
    if (scattered || graph_[id].kind == NodeKind::gather || std::ranges::find(scan.order, id) == scan.order.end()) {
      TILEGYM_TRY(materialise(id));
    } else if (graph_[id].uses > scan.references_to(id) && !shape.empty()) {
      outputs.buffers.push_back({id});
    } else if (graph_[id].uses > scan.references_to(id)) {
      outputs.slots.emplace_back(id, emitter_.new_slot());
    }
  }
  return emit(std::move(outputs));
}

Status RegionBuilder::emit_scan(const ReduceOut& combination, ScanStep step) {
  const RegionOutputs nothing{.shape = {static_cast<std::int64_t>(kStripLanes)}};
  const RegionScan empty;
  RegionEmitter emitter(graph_, emitter_, nothing, empty, {});
  TILEGYM_TRY(emitter.emit_scan(combination, step));
  plan_.register_bytes = std::max(plan_.register_bytes, emitter.register_bytes());
  emitter_.append(std::move(step));
  return {};
}

Status RegionBuilder::flush_loads() {
  for (const NodeId id : graph_.pending_loads()) TILEGYM_TRY(materialise(id));
  return {};
}

std::uint64_t memory_bits(tile_ir::ElementType element, std::int64_t lane_bits) {
  alignas(kVectorBytes) std::array<std::int64_t, 2 * kVectorBytes / sizeof(std::int64_t)> lanes{lane_bits};
  std::uint64_t bits = 0;
  find_store(element)(&bits, lanes.data(), 1);
  return bits;
}

Error unsupported(const OpPlace& place, std::string_view detail) {
  std::string message = "tile op ";
  message += tile_ir::name(place.opcode);
  if (!detail.empty()) message.append(" on ").append(detail);
  return {message + " is not executed by the CPU device yet"};
}

}  // namespace tilegym::cpu
