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
  if (element == ElementType::f8e5m2) {
    NodeId value = node_of(op.operands[0]);
    const StripKey narrow{.op = StripOp::convert, .lane = to, .from = from, .element = element};
    if (from != to) value = compute_node(narrow, ElementType::f32, {value}, op);
    return lower_saturated(op, value);
  }
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
  if (element != ElementType::f8e5m2) return lower_compute(op, key, false);
  return lower_saturated(op, compute_node(key, ElementType::f32, {node_of(op.operands[0])}, op));
}

/// The processors' conversions to f8e5m2 stop at its largest value, though it has an infinity.
Status Lowering::lower_saturated(const Operation& op, NodeId value) {
  constexpr float kLargest = 57344.0F;
  const auto limit = [&](float bound) {
    return uniform_node(emitter_.constant(slot_bits(Lane::f32, &bound)), ElementType::f32, op);
  };
  const StripKey smaller{.op = StripOp::min, .lane = Lane::f32, .propagate_nan = true};
  const NodeId below = compute_node(smaller, ElementType::f32, {value, limit(kLargest)}, op);
  Node inside = node_for(op.results[0], NodeKind::compute, op);
  inside.key = {.op = StripOp::max, .lane = Lane::f32, .rounding = rounding_of(op), .propagate_nan = true};
  inside.operands = {below, limit(-kLargest)};
  inside.shape = graph_[below].shape;
  return round_to_element(op, std::move(inside), false);
}

Status Lowering::lower_float_to_integer(const Operation& op) {
  const Lane from = graph_[node_of(op.operands[0])].lane;
  const ElementType element = type_of(op.results[0]).element;
  if (element == ElementType::i1) return lower_truth(op);
  const StripKey key{.op = StripOp::convert, .lane = lane_of(element), .from = from, .signedness = signedness_of(op)};
  return lower_compute(op, key, true);
}

/// Every float but zero is true, NaN too.
Status Lowering::lower_truth(const Operation& op) {
  const NodeId value = node_of(op.operands[0]);
  const Lane lane = graph_[value].lane;
  Node truth = node_for(op.results[0], NodeKind::compute, op);
  truth.key = {.op = StripOp::compare,
               .lane = lane,
               .predicate = tile_ir::Predicate::not_equal,
               .ordering = tile_ir::Ordering::unordered};
  truth.operands = {value, uniform_node(zero(), format_of(lane), op)};
  truth.shape = graph_[value].shape;
  bind_node(op.results[0], std::move(truth));
  return {};
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
