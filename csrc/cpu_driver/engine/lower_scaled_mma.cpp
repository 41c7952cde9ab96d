#include <utility>

#include "cpu_driver/engine/lowering.h"

/// Products of block-scaled operands: operands times their scales are exact in f64, and so is each product of two; the
/// sum is taken in f64 and rounded to the accumulator's f32 once.
namespace tilegym::cpu {

using tile_ir::ElementType;

namespace {

constexpr StripKey kWiden{.op = StripOp::convert, .lane = Lane::f64, .from = Lane::f32};

}  // namespace

/// The tile over `blocks`, its shape with one dimension split or, for scales, one added along which it repeats
/// (`repeated`, else blocks.size()).
Result<NodeId> Lowering::blocked(ValueId value, const Shape& blocks, std::size_t repeated) {
  const NodeId id = node_of(value);
  if (graph_[id].kind == NodeKind::uniform) return uniform_node(graph_[id].slot, graph_[id].element, {});
  TILEGYM_ASSIGN(const NodeId held, builder_.row_major_buffer(id, shape_of(value), graph_[id].element));
  Shape own = blocks;
  if (repeated < blocks.size()) own[repeated] = 1;
  std::vector<std::int64_t> strides = row_major(own);
  if (repeated < blocks.size()) strides[repeated] = 0;
  Node node{.kind = NodeKind::buffer, .shape = squeeze(blocks), .element = graph_[held].element};
  node.lane = graph_[held].lane;
  node.buffer = graph_[held].buffer;
  node.format = graph_[held].format;
  for (std::size_t d = 0; d < blocks.size(); ++d) {
    if (blocks[d] != 1) node.strides.push_back(strides[d]);
  }
  node.uses = 1;
  return graph_.add(std::move(node));
}

Result<CopyStep> Lowering::scaled_operand(const Operation& op, std::size_t operand, std::size_t k_dim) {
  const Shape& shape = type_of(op.operands[operand]).shape;
  const ValueId scale = op.operands[operand + 3];
  const std::int64_t count = type_of(scale).shape[k_dim];
  Shape blocks = shape;
  blocks[k_dim] = count;
  blocks.insert(blocks.begin() + static_cast<std::ptrdiff_t>(k_dim) + 1, shape[k_dim] / count);
  TILEGYM_ASSIGN(const NodeId numbers, blocked(op.operands[operand], blocks, blocks.size()));
  TILEGYM_ASSIGN(const NodeId factors, blocked(scale, blocks, k_dim + 1));
  const NodeId product = compute_node(
      {.op = StripOp::mul, .lane = Lane::f64}, ElementType::f64,
      {compute_node(kWiden, ElementType::f64, {numbers}, op), compute_node(kWiden, ElementType::f64, {factors}, op)},
      op);
  graph_[product].shape = squeeze(blocks);
  RegionOutputs outputs{.shape = squeeze(blocks)};
  outputs.buffers.push_back({.node = product});
  TILEGYM_TRY(builder_.emit(std::move(outputs)));
  CopyStep step{.extents = shape, .element_bytes = sizeof(double)};
  step.src.buffer = step.dst.buffer = graph_[product].buffer;
  step.dst.strides = row_major(shape);
  return step;
}

Status Lowering::lower_scaled_mma(const Operation& op) {
  const tile_ir::Type& result = type_of(op.results[0]);
  const std::size_t rank = result.shape.size();
  const MmaKey key{.a = ElementType::f64, .accumulator = ElementType::f64};
  MmaStep step{.fn = find_mma(key),
               .batch = rank == 3 ? result.shape[0] : 1,
               .m = result.shape[rank - 2],
               .n = result.shape[rank - 1],
               .k = type_of(op.operands[0]).shape[rank - 1],
               .element_bytes = sizeof(double),
               .accumulator_bytes = sizeof(double)};
  TILEGYM_ASSIGN(step.operands[0], scaled_operand(op, 0, rank - 1));
  emitter_.touch(step.operands[0].src.buffer);
  TILEGYM_ASSIGN(step.operands[1], scaled_operand(op, 1, rank - 2));
  const NodeId start = compute_node(kWiden, ElementType::f64, {node_of(op.operands[2])}, op);
  graph_[start].shape = squeeze(result.shape);
  RegionOutputs outputs{.shape = squeeze(result.shape)};
  outputs.buffers.push_back({.node = start});
  TILEGYM_TRY(builder_.emit(std::move(outputs)));
  for (const std::size_t i : {0, 1, 3, 4}) graph_.consume(node_of(op.operands[i]));
  step.accumulator = graph_[start].buffer;
  step.scratch = emitter_.new_buffer(mma_scratch_bytes(key, step.m, step.n, step.k));
  for (const BufferId buffer :
       {step.operands[0].src.buffer, step.operands[1].src.buffer, step.accumulator, step.scratch}) {
    emitter_.touch(buffer);
  }
  Node sum{.kind = NodeKind::buffer, .shape = squeeze(result.shape), .element = ElementType::f64, .lane = Lane::f64};
  sum.buffer = step.accumulator;
  sum.format = ElementType::f64;
  sum.strides = row_major(sum.shape);
  sum.uses = 1;
  emitter_.append(std::move(step));
  Node rounded = node_for(op.results[0], NodeKind::compute, op);
  rounded.key = {.op = StripOp::convert, .lane = Lane::f32, .from = Lane::f64};
  rounded.operands = {graph_.add(std::move(sum))};
  bind_node(op.results[0], std::move(rounded));
  return {};
}

}  // namespace tilegym::cpu
