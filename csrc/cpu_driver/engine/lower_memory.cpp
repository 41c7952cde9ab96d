#include <utility>

#include "cpu_driver/engine/lowering.h"

namespace tilegym::cpu {

/// A pending scalar is computed now, so that it can take part in linear addresses and masks.
Status Lowering::settle(std::optional<ValueId> value) {
  if (!value || !graph_[node_of(*value)].shape.empty()) return {};
  TILEGYM_TRY(slot_of(*value));
  return {};
}

std::optional<Access> Lowering::linear_access(ValueId pointer, std::optional<ValueId> mask, const Operation& op) {
  auto address = linear_of(pointer);
  auto bounds = mask ? mask_of(*mask) : Mask{};
  if (!address || !bounds) return std::nullopt;
  graph_.consume(node_of(pointer));
  if (mask) graph_.consume(node_of(*mask));
  return Access{type_of(pointer).element, std::move(*address), std::move(*bounds), place_of(op)};
}

Status Lowering::lower_load_ptr(const Operation& op) {
  const ValueId pointer = op.group(0)[0];
  const std::optional<ValueId> mask = op.optional(1);
  const std::optional<ValueId> padding = op.optional(2);
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
  out.value = without_rounding(out.value, out.element);
  return builder_.emit_store(std::move(out), shape_of(value));
}

/// Stores round to their element themselves: a rounding that only the store reads is left out.
NodeId Lowering::without_rounding(NodeId value, tile_ir::ElementType element) {
  const Node& node = graph_[value];
  const bool rounds = node.kind == NodeKind::compute && node.key.op == StripOp::round_to && node.key.element == element;
  if (!rounds || node.uses != 1) return value;
  const NodeId source = node.operands[0];
  graph_.consume(value);
  return source;
}

}  // namespace tilegym::cpu
