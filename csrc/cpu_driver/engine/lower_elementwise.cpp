#include <algorithm>

#include "common/check.h"
#include "cpu_driver/engine/elementwise_table.h"
#include "cpu_driver/engine/lowering.h"
#include "cpu_driver/engine/scalar_ops.h"

namespace tilegym::cpu {

Status Lowering::lower_elementwise(const Operation& op) {
  const ElementwiseRow* row = find_elementwise(op.opcode);
  TILEGYM_CHECK(row != nullptr);
  // A comparison and a choice are chosen by their values, not by the i1 they yield or test.
  const std::size_t typed_operand = op.opcode == tile_ir::Opcode::Select ? 1 : 0;
  StripKey key = elementwise_key(*row, op, graph_[node_of(op.operands[typed_operand])].lane);
  if (op.opcode == tile_ir::Opcode::Fma) key.element = type_of(op.results[0]).element;
  if (std::optional<Ramp> index = linear_result(op)) {
    for (const ValueId operand : op.operands) graph_.consume(node_of(operand));
    bind_linear(op.results[0], std::move(*index), op);
    return {};
  }
  std::optional<Mask> mask = mask_result(op);
  TILEGYM_TRY(lower_compute(op, key, row->exact));
  values_[op.results[0]].mask = std::move(mask);
  return {};
}

Status Lowering::lower_compute(const Operation& op, const StripKey& key, bool exact) {
  const ValueId result = op.results[0];
  const auto in_slot = [this](ValueId value) { return is_integer_slot(value); };
  const ScalarFn scalar = find_scalar(key);
  if (scalar != nullptr && std::ranges::all_of(op.operands, in_slot)) {
    std::array<SlotId, 3> slots{};
    for (std::size_t i = 0; i < 3; ++i) {
      const ValueId operand = op.operands[std::min(i, op.operands.size() - 1)];
      slots[i] = graph_[node_of(operand)].slot;
    }
    for (const ValueId operand : op.operands) graph_.consume(node_of(operand));
    const Lane lane = lane_of(type_of(result).element);
    if (lane != Lane::f32 && lane != Lane::f64) {
      bind_slot(result, emitter_.scalar(scalar, slots[0], slots[1], slots[2]));
      return {};
    }
  }
  Node node = node_for(result, NodeKind::compute, op);
  node.key = key;
  bool uniform = true;
  for (const ValueId operand : op.operands) {
    node.operands.push_back(node_of(operand));
    // Values of a reduction's body are strips although their types have no dimensions.
    if (graph_[node_of(operand)].shape.empty()) continue;
    uniform = false;
    node.shape = graph_[node_of(operand)].shape;
  }
  if (uniform) node.shape.clear();
  return round_to_element(op, std::move(node), exact);
}

Status Lowering::round_to_element(const Operation& op, Node node, bool exact) {
  const bool narrow = node.lane == Lane::f32 && node.element != tile_ir::ElementType::f32;
  if (exact || !narrow) {
    bind_node(op.results[0], std::move(node));
    return {};
  }
  Node rounded = node;
  node.uses = 1;
  node.element = tile_ir::ElementType::f32;
  rounded.key = {.op = StripOp::round_to, .lane = Lane::f32, .element = rounded.element, .rounding = node.key.rounding};
  rounded.operands = {graph_.add(std::move(node))};
  bind_node(op.results[0], std::move(rounded));
  return {};
}

}  // namespace tilegym::cpu
