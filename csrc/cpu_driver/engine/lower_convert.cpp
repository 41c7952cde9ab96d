#include <utility>

#include "cpu_driver/engine/lowering.h"

namespace tilegym::cpu {

using tile_ir::AttrName;
using tile_ir::ElementType;

namespace {

tile_ir::Signedness signedness_of(const tile_ir::Operation& op) {
  return static_cast<tile_ir::Signedness>(
      op.integer(AttrName::signedness, static_cast<std::uint64_t>(tile_ir::Signedness::signed_)));
}

}  // namespace

Status Lowering::lower_integer_width(const Operation& op) {
  const ValueId source = op.operands[0];
  const Lane from = graph_[node_of(source)].lane;
  const Lane to = lane_of(type_of(op.results[0]).element);
  // Widening keeps a linear index linear; narrowing may wrap it.
  if (op.opcode == tile_ir::Opcode::ExtI && values_[source].linear) {
    graph_.consume(node_of(source));
    bind_linear(op.results[0], *values_[source].linear, op);
    return {};
  }
  return lower_compute(op, {.op = StripOp::convert, .lane = to, .from = from, .signedness = signedness_of(op)}, true);
}

Status Lowering::lower_float_width(const Operation& op) {
  const Lane from = graph_[node_of(op.operands[0])].lane;
  const ElementType element = type_of(op.results[0]).element;
  const Lane to = lane_of(element);
  if (from != to) return lower_compute(op, {.op = StripOp::convert, .lane = to, .from = from}, false);
  // Narrow floats are held as f32 already, so widening to f32 changes nothing.
  if (element == ElementType::f32) return lower_alias(op);
  return lower_compute(op, {.op = StripOp::round_to, .lane = to, .element = element}, true);
}

Status Lowering::lower_integer_to_float(const Operation& op) {
  const Lane from = graph_[node_of(op.operands[0])].lane;
  const Lane to = lane_of(type_of(op.results[0]).element);
  return lower_compute(op, {.op = StripOp::convert, .lane = to, .from = from, .signedness = signedness_of(op)}, false);
}

Status Lowering::lower_float_to_integer(const Operation& op) {
  const Lane from = graph_[node_of(op.operands[0])].lane;
  const Lane to = lane_of(type_of(op.results[0]).element);
  return lower_compute(op, {.op = StripOp::convert, .lane = to, .from = from, .signedness = signedness_of(op)}, true);
}

Status Lowering::lower_bitcast(const Operation& op) {
  const ElementType from = type_of(op.operands[0]).element;
  const ElementType to = type_of(op.results[0]).element;
  if (from == to) return lower_alias(op);
  if (from == ElementType::i1 || to == ElementType::i1) return unsupported(place_of(op), "i1");
  // Lanes of narrow floats are wider than the type: their bits go through the memory format.
  const ElementType lanes = format_of(lane_of(from));
  Node bits = node_for(op.results[0], NodeKind::move, op);
  bits.shape = graph_[node_of(op.operands[0])].shape;
  bits.operands = {node_of(op.operands[0])};
  if (lanes != from && format_of(lane_of(to)) != to) {
    Node memory = bits;
    memory.element = tile_ir::byte_size(from) == 1 ? ElementType::i8 : ElementType::i16;
    memory.lane = lane_of(memory.element);
    memory.move = find_store(from);
    memory.uses = 1;
    bits.operands = {graph_.add(std::move(memory))};
    bits.move = find_load(to);
  } else {
    bits.move = lanes != from ? find_store(from) : find_load(to);
  }
  bind_node(op.results[0], std::move(bits));
  return {};
}

Status Lowering::lower_alias(const Operation& op) {
  alias(op.results[0], op.operands[0]);
  return {};
}

}  // namespace tilegym::cpu
