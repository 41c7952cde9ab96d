#include <string>
#include <utility>

#include "cpu_driver/engine/lowering.h"

namespace tilegym::cpu {

using tile_ir::AttrName;

Status Lowering::lower_assert(const Operation& op) {
  const ValueId condition = op.operands[0];
  AssertStep step{.place = place_of(op)};
  if (const tile_ir::Attribute* message = op.find(AttrName::message)) step.message = message->text;
  TILEGYM_ASSIGN(step.condition, inspected(condition));
  graph_.consume(node_of(condition));
  emitter_.append(std::move(step));
  return {};
}

Status Lowering::lower_print(const Operation& op) {
  PrintStep step;
  if (const tile_ir::Attribute* text = op.find(AttrName::str)) step.format = text->text;
  for (const ValueId value : op.group(0)) {
    TILEGYM_ASSIGN(InspectedTile tile, inspected(value));
    step.arguments.push_back(std::move(tile));
  }
  for (const InspectedTile& tile : step.arguments) {
    if (!tile.is_slot) emitter_.touch(tile.buffer);
  }
  // Only now: computing one argument must not take the buffer of another.
  for (const ValueId value : op.group(0)) graph_.consume(node_of(value));
  emitter_.append(std::move(step));
  return {};
}

Result<InspectedTile> Lowering::inspected(ValueId value) {
  const NodeId id = node_of(value);
  const tile_ir::Type& type = type_of(value);
  // A widened f16 is still held as one; what looks at bits wants those of the value's own type.
  InspectedTile tile{.element = type.of_pointers ? tile_ir::ElementType::i64 : buffer_format(type.element)};
  if (graph_[id].shape.empty()) {
    TILEGYM_ASSIGN(tile.slot, builder_.slot_of(id));
  } else {
    TILEGYM_ASSIGN(const NodeId node, builder_.row_major_buffer(id, shape_of(value), tile.element));
    tile.is_slot = false;
    tile.buffer = graph_[node].buffer;
    tile.shape = type.shape;
    emitter_.touch(tile.buffer);
  }
  return tile;
}

}  // namespace tilegym::cpu
