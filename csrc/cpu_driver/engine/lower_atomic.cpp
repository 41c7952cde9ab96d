#include <array>
#include <string>
#include <utility>

#include "cpu_driver/engine/atomic_table.h"
#include "cpu_driver/engine/lowering.h"

/// Atomic operations work on tiles in buffers, element after element.
namespace tilegym::cpu {

using tile_ir::AttrName;
using tile_ir::ElementType;
using tile_ir::Opcode;

Status Lowering::lower_atomic(const Operation& op) {
  const bool swaps = op.opcode == Opcode::AtomicCAS;
  const auto mode = swaps ? AtomicMode::compare_exchange : static_cast<AtomicMode>(op.integer(AttrName::mode));
  const ElementType element = type_of(op.results[0]).element;
  AtomicStep step{.fn = find_atomic(mode, element),
                  .element_bytes = static_cast<std::uint32_t>(tile_ir::byte_size(element)),
                  .extents = type_of(op.results[0]).shape,
                  .place = place_of(op)};
  if (step.fn == nullptr) return unsupported(place_of(op), tile_ir::name(element));
  // Loads before it keep what memory held; what the loads after it see is its work.
  TILEGYM_TRY(builder_.flush_loads());
  const std::optional<ValueId> mask = op.optional(swaps ? 3 : 2);
  TILEGYM_ASSIGN(step.addresses, inspected(op.group(0)[0]));
  TILEGYM_ASSIGN(step.operand, inspected(op.group(swaps ? 2 : 1)[0]));
  if (swaps) {
    TILEGYM_ASSIGN(step.compare, inspected(op.group(1)[0]));
  }
  if (mask) {
    TILEGYM_ASSIGN(step.mask, inspected(*mask));
  }
  return append_atomic(op, std::move(step));
}

Status Lowering::lower_atomic_view(const Operation& op) {
  const ValueId value = op.group(2)[0];
  const ElementType element = type_of(value).element;
  AtomicStep step{.fn = find_atomic(static_cast<AtomicMode>(op.integer(AttrName::mode)), element),
                  .element_bytes = static_cast<std::uint32_t>(tile_ir::byte_size(element)),
                  .extents = shape_of(value),
                  .place = place_of(op)};
  if (step.fn == nullptr) return unsupported(place_of(op), tile_ir::name(element));
  TILEGYM_TRY(builder_.flush_loads());
  TILEGYM_ASSIGN(step.access, view_access(op.group(0)[0], op.group(1), op));
  // A tile of one element has no dimension to run along.
  if (step.extents.empty()) step.access = unsqueezed_access(*step.access, step.extents = {1});
  TILEGYM_ASSIGN(step.operand, inspected(value));
  return append_atomic(op, std::move(step));
}

Status Lowering::append_atomic(const Operation& op, AtomicStep step) {
  for (const InspectedTile* tile :
       {&step.addresses, &step.operand, step.compare ? &*step.compare : nullptr, step.mask ? &*step.mask : nullptr}) {
    if (tile != nullptr && !tile->is_slot) emitter_.touch(tile->buffer);
  }
  // Only now: computing one operand must not take the buffer of another.
  for (const ValueId operand : op.operands) {
    if (type_of(operand).is_tile() && node_of(operand) != kNoNode) graph_.consume(node_of(operand));
  }
  if (!op.results.empty() && type_of(op.results[0]).is_tile()) step.result = result_tile(op);
  emitter_.append(std::move(step));
  return {};
}

InspectedTile Lowering::result_tile(const Operation& op) {
  Node node = node_for(op.results[0], NodeKind::buffer, op);
  node.format = buffer_format(node.element);
  InspectedTile tile{.shape = type_of(op.results[0]).shape, .element = node.format};
  if (node.shape.empty()) {
    tile.slot = emitter_.new_slot();
    bind_slot(op.results[0], tile.slot);
    return tile;
  }
  tile.is_slot = false;
  tile.buffer = node.buffer =
      emitter_.new_buffer(static_cast<std::size_t>(element_count(node.shape)) * tile_ir::byte_size(node.format));
  emitter_.touch(tile.buffer);
  node.strides = row_major(node.shape);
  node.owned = true;
  bind_node(op.results[0], std::move(node));
  return tile;
}

}  // namespace tilegym::cpu
