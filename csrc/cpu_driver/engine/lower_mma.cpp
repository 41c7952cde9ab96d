#include <array>
#include <utility>

#include "cpu_driver/engine/lowering.h"

namespace tilegym::cpu {

using tile_ir::AttrName;
using tile_ir::ElementType;
using tile_ir::Signedness;

namespace {

Signedness sign(const tile_ir::Operation& op, AttrName name) {
  return static_cast<Signedness>(op.integer(name, static_cast<std::uint64_t>(Signedness::signed_)));
}

bool nearest(tile_ir::Rounding rounding) {
  using enum tile_ir::Rounding;
  return rounding == nearest_even || rounding == approx || rounding == full;
}

/// tf32 lies in memory as f32 does.
bool same_format(ElementType memory, ElementType element) {
  return memory == element || (memory == ElementType::f32 && element == ElementType::tf32);
}

MmaKey key_of(const tile_ir::Operation& op, ElementType operands, ElementType accumulator) {
  return {.a = operands,
          // Products of narrow floats are accumulated in f32 and rounded once.
          .accumulator = accumulator == ElementType::f16 ? ElementType::f32 : accumulator,
          .lhs = sign(op, AttrName::signedness_lhs),
          .rhs = sign(op, AttrName::signedness_rhs)};
}

}  // namespace

Status Lowering::lower_mma(const Operation& op) {
  const tile_ir::Type& lhs = type_of(op.operands[0]);
  const tile_ir::Type& result = type_of(op.results[0]);
  const MmaKey key = key_of(op, lhs.element, result.element);
  const std::size_t rank = result.shape.size();
  MmaStep step{.fn = find_mma(key),
               .batch = rank == 3 ? result.shape[0] : 1,
               .m = result.shape[rank - 2],
               .n = result.shape[rank - 1],
               .k = lhs.shape[rank - 1]};
  if (step.fn == nullptr) return unsupported(place_of(op), tile_ir::name(lhs.element));
  step.element_bytes = static_cast<std::uint32_t>(tile_ir::byte_size(lhs.element));
  step.accumulator_bytes = static_cast<std::uint32_t>(tile_ir::byte_size(key.accumulator));
  std::array<NodeId, 2> factors{};
  for (std::size_t i = 0; i < 2; ++i) {
    factors[i] = unrounded(node_of(op.operands[i]), lhs.element);
    TILEGYM_ASSIGN(step.operands[i], mma_operand(factors[i], type_of(op.operands[i])));
  }
  TILEGYM_ASSIGN(step.accumulator, exclusive_buffer(node_of(op.operands[2]), squeeze(result.shape), key.accumulator));
  // Only now: computing the sum's buffer must not take an operand's.
  for (std::size_t i = 0; i < 2; ++i) {
    const NodeId operand = node_of(op.operands[i]);
    if (factors[i] != operand) graph_.consume(factors[i]);
    graph_.consume(operand);
  }
  step.scratch = emitter_.new_buffer(mma_scratch_bytes(key, step.m, step.n, step.k));
  for (const CopyStep& operand : step.operands) {
    emitter_.touch(operand.src.buffer);
    emitter_.touch(operand.dst.buffer);
  }
  emitter_.touch(step.accumulator);
  emitter_.touch(step.scratch);
  Node sum = node_for(op.results[0], NodeKind::buffer, op);
  sum.buffer = step.accumulator;
  sum.format = key.accumulator;
  sum.strides = row_major(sum.shape);
  sum.owned = true;
  emitter_.append(std::move(step));
  return bind_sum(op, std::move(sum));
}

Status Lowering::bind_sum(const Operation& op, Node sum) {
  if (sum.format == sum.element) {
    bind_node(op.results[0], std::move(sum));
    return {};
  }
  Node rounded = node_for(op.results[0], NodeKind::compute, op);
  rounded.key = {.op = StripOp::round_to, .lane = sum.lane, .element = sum.element};
  sum.element = sum.format;
  sum.uses = 1;
  rounded.operands = {graph_.add(std::move(sum))};
  bind_node(op.results[0], std::move(rounded));
  return {};
}

/// The value that a product of `element` reads: one of tf32 rounds its operands itself, so a rounding that only it
/// wants is passed over.
NodeId Lowering::unrounded(NodeId id, ElementType element) const {
  const Node& node = graph_[id];
  const bool rounding = node.kind == NodeKind::compute && node.uses == 1 && node.key.op == StripOp::round_to &&
                        node.key.element == ElementType::tf32 && nearest(node.key.rounding);
  return rounding && element == ElementType::tf32 ? node.operands[0] : id;
}

/// An operand as a copy into a row-major buffer. A load that only this product reads stays in memory: the executor
/// reads it in place where it can. No store lies between, or the load would have been executed before it.
Result<CopyStep> Lowering::mma_operand(NodeId id, const tile_ir::Type& type) {
  CopyStep step{.extents = type.shape, .element_bytes = static_cast<std::uint32_t>(tile_ir::byte_size(type.element))};
  const Node& load = graph_[id];
  if (load.kind == NodeKind::load && load.uses == 1 && load.operands.empty() &&
      same_format(load.access.element, type.element)) {
    step.src = {.in_memory = true, .access = unsqueezed_access(load.access, type.shape)};
    step.src.buffer = step.dst.buffer =
        emitter_.new_buffer(static_cast<std::size_t>(type.element_count()) * step.element_bytes);
  } else {
    TILEGYM_ASSIGN(const NodeId node, builder_.row_major_buffer(id, squeeze(type.shape), type.element));
    step.src.buffer = step.dst.buffer = graph_[node].buffer;
    emitter_.touch(step.src.buffer);
  }
  step.dst.strides = row_major(type.shape);
  return step;
}

Access Lowering::unsqueezed_access(const Access& access, const Shape& shape) {
  const auto spread = [&](const Linear& linear) {
    return Linear{linear.base, unsqueezed(linear.strides, shape, zero())};
  };
  const auto spread_wraps = [&](std::vector<Wrap> wraps) {
    for (Wrap& wrap : wraps) wrap.index = spread(wrap.index);
    return wraps;
  };
  Access result{access.element, spread(access.address), access.bounds, access.place, spread_wraps(access.wraps)};
  for (Bound& bound : result.bounds) {
    bound.index = spread(bound.index);
    bound.wraps = spread_wraps(bound.wraps);
  }
  return result;
}

Result<BufferId> Lowering::exclusive_buffer(NodeId id, const Shape& shape, ElementType format) {
  TILEGYM_ASSIGN(const NodeId held, builder_.row_major_buffer(id, shape, format));
  graph_.consume(id);
  const Node& node = graph_[held];
  const bool dies = node.owned && node.loop == builder_.loop && graph_.buffer_uses(node.buffer) == 0;
  if (dies) return node.buffer;
  const BufferId copy =
      emitter_.new_buffer(static_cast<std::size_t>(element_count(shape)) * tile_ir::byte_size(format));
  TILEGYM_TRY(copy_to(held, {.buffer = copy, .shape = shape, .element = format, .lane = node.lane}));
  return copy;
}

}  // namespace tilegym::cpu
