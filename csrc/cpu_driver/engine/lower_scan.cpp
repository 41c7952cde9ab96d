#include <functional>
#include <numeric>
#include <utility>

#include "cpu_driver/engine/lowering.h"

namespace tilegym::cpu {

using tile_ir::AttrName;

Status Lowering::lower_scan(const Operation& op) {
  const Shape& shape = type_of(op.operands[0]).shape;
  const auto dim = static_cast<std::ptrdiff_t>(op.integer(AttrName::dim));
  if (shape[static_cast<std::size_t>(dim)] == 1) {
    // One element along the dimension: the result is the operand.
    for (std::size_t i = 0; i < op.operands.size(); ++i) alias(op.results[i], op.operands[i]);
    return {};
  }
  const auto extent = [](auto begin, auto end) {
    return std::accumulate(begin, end, std::int64_t{1}, std::multiplies{});
  };
  ScanStep step{.outer = extent(shape.begin(), shape.begin() + dim),
                .count = shape[static_cast<std::size_t>(dim)],
                .inner = extent(shape.begin() + dim + 1, shape.end()),
                .reverse = op.flag(AttrName::reverse)};
  ReduceOut body;
  for (const ValueId operand : op.operands) {
    const Lane lane = graph_[node_of(operand)].lane;
    TILEGYM_ASSIGN(const NodeId held, builder_.row_major_buffer(node_of(operand), shape_of(operand), format_of(lane)));
    step.operands.push_back({.lane = lane, .source = graph_[held].buffer});
    body.operands.push_back(held);
  }
  TILEGYM_TRY(lower_reduce_body(op, body));
  for (std::size_t i = 0; i < op.results.size(); ++i) {
    Node node = node_for(op.results[i], NodeKind::buffer, op);
    node.format = format_of(node.lane);
    node.strides = row_major(node.shape);
    node.owned = true;
    node.buffer = step.operands[i].result =
        emitter_.new_buffer(static_cast<std::size_t>(element_count(node.shape)) * lane_bytes(node.lane));
    emitter_.touch(step.operands[i].source);
    emitter_.touch(node.buffer);
    bind_node(op.results[i], std::move(node));
  }
  for (const ValueId operand : op.operands) graph_.consume(node_of(operand));
  return builder_.emit_scan(body, std::move(step));
}

}  // namespace tilegym::cpu
