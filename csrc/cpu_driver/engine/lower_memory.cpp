#include <utility>

#include "cpu_driver/engine/lowering.h"

namespace tilegym::cpu {

using tile_ir::ElementType;

namespace {

/// The integers whose lanes are what a narrow float is in memory; the type itself where its lanes already are.
ElementType same_width_integer(ElementType element) {
  switch (element) {
    case ElementType::f16:
    case ElementType::bf16:
      return ElementType::i16;
    case ElementType::f8e4m3fn:
    case ElementType::f8e5m2:
    case ElementType::f8e8m0fnu:
      return ElementType::i8;
    default:
      return element;
  }
}

bool is_directed(tile_ir::Rounding rounding) {
  using enum tile_ir::Rounding;
  return rounding == zero || rounding == negative_inf || rounding == positive_inf;
}

}  // namespace

/// A pending scalar is computed now, so that it can take part in linear addresses and masks.
Status Lowering::settle(std::optional<ValueId> value) {
  if (!value || !graph_[node_of(*value)].shape.empty()) return {};
  TILEGYM_TRY(slot_of(*value));
  return {};
}

/// A pointer cannot tell the halves of a byte apart; views of packed elements can.
Status Lowering::refuse_packed(ValueId pointer, const Operation& op) const {
  if (!is_packed(type_of(pointer).element)) return {};
  return unsupported(place_of(op), "pointers to " + std::string(tile_ir::name(type_of(pointer).element)));
}

std::optional<Access> Lowering::linear_access(ValueId pointer, std::optional<ValueId> mask, const Operation& op) {
  auto address = linear_of(pointer);
  auto bounds = mask ? mask_of(*mask) : Mask{};
  if (!address || !bounds) return std::nullopt;
  graph_.consume(node_of(pointer));
  if (mask) graph_.consume(node_of(*mask));
  return Access{type_of(pointer).element, std::move(*address), std::move(*bounds), place_of(op),
                values_[pointer].wraps};
}

Status Lowering::lower_load_ptr(const Operation& op) {
  const ValueId pointer = op.group(0)[0];
  const std::optional<ValueId> mask = op.optional(1);
  const std::optional<ValueId> padding = op.optional(2);
  TILEGYM_TRY(refuse_packed(pointer, op));
  TILEGYM_TRY(settle(pointer));
  TILEGYM_TRY(settle(mask));
  TILEGYM_TRY(settle(padding));
  Node node = node_for(op.results[0], NodeKind::load, op);
  if (auto access = linear_access(pointer, mask, op)) {
    node.access = std::move(*access);
    if (padding) node.operands = {node_of(*padding)};
  } else {
    node.kind = NodeKind::gather;
    node.access.place = place_of(op);
    node.operands = {node_of(pointer), mask ? node_of(*mask) : kNoNode, padding ? node_of(*padding) : kNoNode};
  }
  node.access.element = node.element;
  bind_node(op.results[0], std::move(node));
  return {};
}

Status Lowering::lower_store_ptr(const Operation& op) {
  const ValueId pointer = op.group(0)[0];
  const ValueId value = op.group(1)[0];
  const std::optional<ValueId> mask = op.optional(2);
  TILEGYM_TRY(refuse_packed(pointer, op));
  TILEGYM_TRY(settle(pointer));
  TILEGYM_TRY(settle(mask));
  StoreOut out{
      .value = node_of(value), .element = node_for(value, NodeKind::uniform, op).element, .place = place_of(op)};
  out.access = linear_access(pointer, mask, op);
  if (out.access) {
    out.access->element = out.element;
  } else {
    out.addresses = node_of(pointer);
    if (mask) out.mask = node_of(*mask);
  }
  return emit_store(std::move(out), shape_of(value));
}

Status Lowering::emit_store(StoreOut out, const Shape& shape) {
  out.value = without_rounding(out.value, out.element);
  if (const ElementType bits = same_width_integer(out.element);
      bits != out.element && loads_as(out.value, out.element)) {
    // Nothing but the store reads what was loaded: its bits go through as they are.
    load_as(graph_[out.value], bits);
    out.element = bits;
    if (out.access) out.access->element = bits;
  }
  return builder_.emit_store(std::move(out), shape);
}

bool Lowering::loads_as(NodeId id, ElementType element) const {
  const Node& node = graph_[id];
  return node.kind == NodeKind::load && node.uses == 1 && node.operands.empty() && node.access.element == element;
}

void Lowering::load_as(Node& load, ElementType element) {
  load.element = load.access.element = element;
  load.lane = lane_of(element);
}

/// Stores round to their element themselves: a rounding that only the store reads is left out.
NodeId Lowering::without_rounding(NodeId value, tile_ir::ElementType element) {
  const Node& node = graph_[value];
  // A store of tf32 writes its lanes as they are.
  const bool rounds = node.kind == NodeKind::compute && node.key.op == StripOp::round_to &&
                      node.key.element == element && !is_directed(node.key.rounding) &&
                      element != tile_ir::ElementType::tf32;
  if (!rounds || node.uses != 1) return value;
  const NodeId source = node.operands[0];
  graph_.consume(value);
  return source;
}

}  // namespace tilegym::cpu
