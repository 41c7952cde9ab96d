#include <limits>
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

tile_ir::Rounding rounding_of(const tile_ir::Operation& op) {
  return static_cast<tile_ir::Rounding>(op.integer(AttrName::rounding_mode));
}

}  // namespace

Status Lowering::lower_integer_width(const Operation& op) {
  const ValueId source = op.operands[0];
  const Lane from = graph_[node_of(source)].lane;
  const Lane to = lane_of(type_of(op.results[0]).element);
  if (type_of(source).element == ElementType::i4 || type_of(op.results[0]).element == ElementType::i4) {
    return lower_nibbles(op);
  }
  // Widening to the width of addresses keeps a linear index linear; narrowing may wrap it.
  if (op.opcode == tile_ir::Opcode::ExtI && values_[source].linear) {
    Ramp index = *index_of(source, signedness_of(op));
    if (index.wraps.empty() || to == Lane::i64) {
      graph_.consume(node_of(source));
      bind_linear(op.results[0], std::move(index), op);
      return {};
    }
  }
  return lower_compute(op, {.op = StripOp::convert, .lane = to, .from = from, .signedness = signedness_of(op)}, true);
}

/// i4 is held sign-extended in lanes of 8 bits.
Status Lowering::lower_nibbles(const Operation& op) {
  const ValueId source = op.operands[0];
  const Lane to = lane_of(type_of(op.results[0]).element);
  const auto number = [&](std::int64_t value) { return uniform_node(emitter_.constant(value), ElementType::i8, op); };
  NodeId value = node_of(source);
  if (type_of(source).element == ElementType::i4 && signedness_of(op) == tile_ir::Signedness::unsigned_) {
    value = compute_node({.op = StripOp::and_, .lane = Lane::i8}, ElementType::i8, {value, number(15)}, op);
  }
  Node node = node_for(op.results[0], NodeKind::compute, op);
  node.shape = graph_[value].shape;
  if (type_of(op.results[0]).element != ElementType::i4) {
    node.key = {.op = StripOp::convert, .lane = to, .from = Lane::i8, .signedness = signedness_of(op)};
    node.operands = {value};
  } else {
    const Lane from = graph_[value].lane;
    if (from != Lane::i8) {
      value = compute_node({.op = StripOp::convert, .lane = Lane::i8, .from = from}, ElementType::i8, {value}, op);
    }
    value = compute_node({.op = StripOp::shl, .lane = Lane::i8}, ElementType::i8, {value, number(4)}, op);
    node.key = {.op = StripOp::shr, .lane = Lane::i8};
    node.operands = {value, number(4)};
  }
  bind_node(op.results[0], std::move(node));
  return {};
}

Status Lowering::lower_float_width(const Operation& op) {
  const Lane from = graph_[node_of(op.operands[0])].lane;
  const ElementType element = type_of(op.results[0]).element;
  const Lane to = lane_of(element);
  if (from != to) {
    return lower_compute(
        op, {.op = StripOp::convert, .lane = to, .from = from, .element = element, .rounding = rounding_of(op)}, false);
  }
  // Narrow floats are held as f32 already, so widening to f32 changes nothing.
  if (element == ElementType::f32) return lower_alias(op);
  return lower_compute(op, {.op = StripOp::round_to, .lane = to, .element = element, .rounding = rounding_of(op)},
                       true);
}

Status Lowering::lower_integer_to_float(const Operation& op) {
  const Lane from = graph_[node_of(op.operands[0])].lane;
  const ElementType element = type_of(op.results[0]).element;
  const StripKey key{.op = StripOp::convert,
                     .lane = lane_of(element),
                     .from = from,
                     .element = element,
                     .rounding = rounding_of(op),
                     .signedness = signedness_of(op)};
  if (element != ElementType::f8e4m3fn) return lower_compute(op, key, false);
  // An integer beyond the largest value becomes NaN where the format has no infinity, while floats stop at it. 464 is
  // the last number that rounds to 448.
  const auto real = [&](float value) {
    return uniform_node(emitter_.constant(slot_bits(Lane::f32, &value)), ElementType::f32, op);
  };
  const NodeId value = compute_node(key, ElementType::f32, {node_of(op.operands[0])}, op);
  graph_[value].uses = 2;
  const NodeId size = compute_node({.op = StripOp::abs, .lane = Lane::f32}, ElementType::f32, {value}, op);
  const NodeId beyond =
      compute_node({.op = StripOp::compare, .lane = Lane::f32, .predicate = tile_ir::Predicate::greater},
                   ElementType::i1, {size, real(464.0F)}, op);
  Node chosen = node_for(op.results[0], NodeKind::compute, op);
  chosen.key = {.op = StripOp::select, .lane = Lane::f32, .rounding = rounding_of(op)};
  chosen.operands = {beyond, real(std::numeric_limits<float>::quiet_NaN()), value};
  chosen.shape = graph_[value].shape;
  return round_to_element(op, std::move(chosen), false);
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
  if (loads_as(node_of(op.operands[0]), from) && buffer_format(to) == to) {
    // Reading memory as the other type keeps the bits of every NaN.
    Node load = node_for(op.results[0], NodeKind::load, op);
    load.access = graph_[node_of(op.operands[0])].access;
    load_as(load, to);
    graph_.consume(node_of(op.operands[0]));
    bind_node(op.results[0], std::move(load));
    return {};
  }
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
