#include <utility>

#include "cpu_driver/engine/lowering.h"

/// Views of 4-bit elements: a tile is read and written as a whole, on its way between memory and a buffer of lanes.
namespace tilegym::cpu {

using tile_ir::ElementType;

Result<PackedStep> Lowering::packed_step(ValueId view, std::span<const ValueId> index, const Shape& shape,
                                         const Operation& op) {
  TILEGYM_ASSIGN(Access access, view_access(view, index, op));
  const ElementType element = access.element;
  const Lane lane = lane_of(element);
  PackedStep step{.extents = shape,
                  .access = std::move(access),
                  .lane_bytes = static_cast<std::uint32_t>(lane_bytes(lane)),
                  .load = find_load(element),
                  .store = find_store(element),
                  .gather = find_gather(element),
                  .scatter = find_scatter(element),
                  .fill = find_strip({.op = StripOp::copy, .lane = lane, .scalar_operands = 1}),
                  .padding = padding_slot(view, element)};
  // A tile of one element has no dimension to run along.
  if (shape.empty()) step.access = unsqueezed_access(step.access, step.extents = {1});
  return step;
}

Status Lowering::lower_packed_load(const Operation& op) {
  const ValueId view = op.group(0)[0];
  Node node = node_for(op.results[0], NodeKind::buffer, op);
  TILEGYM_ASSIGN(PackedStep step, packed_step(view, op.group(1), node.shape, op));
  node.format = format_of(node.lane);
  node.strides = row_major(node.shape);
  node.owned = true;
  node.buffer = emitter_.new_buffer(static_cast<std::size_t>(element_count(node.shape)) * step.lane_bytes);
  step.buffer = node.buffer;
  emitter_.touch(node.buffer);
  emitter_.append(std::move(step));
  const bool one_value = node.shape.empty();
  bind_node(op.results[0], std::move(node));
  if (one_value) TILEGYM_TRY(slot_of(op.results[0]));
  return {};
}

Status Lowering::lower_packed_store(const Operation& op) {
  const ValueId tile = op.group(0)[0];
  // Loads before it keep what memory held.
  TILEGYM_TRY(builder_.flush_loads());
  const NodeId source = node_of(tile);
  TILEGYM_ASSIGN(const NodeId held, builder_.row_major_buffer(source, shape_of(tile), format_of(graph_[source].lane)));
  TILEGYM_ASSIGN(PackedStep step, packed_step(op.group(1)[0], op.group(2), shape_of(tile), op));
  step.stores = true;
  step.buffer = graph_[held].buffer;
  emitter_.touch(step.buffer);
  emitter_.append(std::move(step));
  graph_.consume(source);
  return {};
}

}  // namespace tilegym::cpu
