#include <array>
#include <utility>

#include "cpu_driver/engine/lowering.h"

namespace tilegym::cpu {

using tile_ir::AttrName;

namespace {

template <class T>
std::vector<T> without_unit_dimensions(const std::vector<T>& strides, const Shape& shape) {
  std::vector<T> result;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != 1) result.push_back(strides[d]);
  }
  return result;
}

template <class T>
std::vector<T> permuted(const std::vector<T>& values, std::span<const std::int64_t> permutation) {
  std::vector<T> result;
  for (const std::int64_t d : permutation) result.push_back(values[static_cast<std::size_t>(d)]);
  return result;
}

/// The index tile with every linear form replaced by map(form); nothing where one has no image.
template <class Map>
std::optional<Ramp> mapped(Ramp index, const Map& map) {
  std::optional<Linear> value = map(index.value);
  if (!value) return std::nullopt;
  index.value = std::move(*value);
  for (Wrap& wrap : index.wraps) {
    std::optional<Linear> inner = map(wrap.index);
    if (!inner) return std::nullopt;
    wrap.index = std::move(*inner);
  }
  return index;
}

/// Precondition: every form has an image.
template <class Map>
void map_bound(Bound& bound, const Map& map) {
  Ramp index = *mapped({bound.index, bound.wraps}, map);
  bound.index = std::move(index.value);
  bound.wraps = std::move(index.wraps);
}

}  // namespace

Status Lowering::lower_reshape(const Operation& op) {
  const auto [source, result] = std::pair(op.operands[0], op.results[0]);
  const Shape from = shape_of(source);
  const Shape to = shape_of(result);
  if (from == to || graph_[node_of(source)].shape.empty()) {
    alias(result, source);
    return {};
  }
  if (values_[source].linear) {
    const auto reshape = [&](const Linear& linear) { return reshaped(linear, from, to); };
    if (auto index = mapped({*values_[source].linear, values_[source].wraps}, reshape)) {
      graph_.consume(node_of(source));
      bind_linear(result, std::move(*index), op);
      return {};
    }
  }
  TILEGYM_ASSIGN(const NodeId buffer, buffered(source));
  Node node = node_for(result, NodeKind::buffer, op);
  node.buffer = graph_[buffer].buffer;
  node.format = graph_[buffer].format;
  node.owned = graph_[buffer].owned;
  node.loop = graph_[buffer].loop;
  node.strides = row_major(to);
  bind_node(result, std::move(node));
  graph_.consume(node_of(source));
  return {};
}

/// Splitting one dimension keeps a linear tile linear; other reshapes need constant, row-major strides.
std::optional<Linear> Lowering::reshaped(const Linear& linear, const Shape& from, const Shape& to) {
  const SlotId inner = linear.strides.back();
  std::int64_t block = 1;
  for (std::size_t d = from.size(); d-- > 0; block *= from[d]) {
    const auto stride = emitter_.constant_of(linear.strides[d]);
    const auto unit = emitter_.constant_of(inner);
    if (d + 1 < from.size() && (!stride || !unit || *stride != *unit * block)) return std::nullopt;
  }
  Linear result{.base = linear.base};
  for (const std::int64_t stride : row_major(to)) {
    result.strides.push_back(emitter_.mul(inner, emitter_.constant(stride)));
  }
  return result;
}

Status Lowering::lower_broadcast(const Operation& op) {
  const auto [source, result] = std::pair(op.operands[0], op.results[0]);
  if (graph_[node_of(source)].shape.empty() || shape_of(source) == shape_of(result)) {
    alias(result, source);
    return {};
  }
  std::vector<std::size_t> dimension_of;
  std::size_t next = 0;
  for (std::size_t d = 0; d < type_of(result).shape.size(); ++d) {
    const bool stretched = type_of(source).shape[d] == 1;
    if (type_of(result).shape[d] != 1) dimension_of.push_back(stretched ? kStretched : next);
    if (!stretched) ++next;
  }
  const auto spread = [&](const Linear& linear) {
    Linear wide{.base = linear.base};
    for (const std::size_t d : dimension_of) wide.strides.push_back(d == kStretched ? zero() : linear.strides[d]);
    return std::optional(wide);
  };
  if (values_[source].linear) {
    graph_.consume(node_of(source));
    bind_linear(result, *mapped({*values_[source].linear, values_[source].wraps}, spread), op);
    return {};
  }
  Node node = node_for(result, NodeKind::broadcast, op);
  node.operands = {node_of(source)};
  node.element = graph_[node_of(source)].element;
  node.dimension_of = dimension_of;
  bind_node(result, std::move(node));
  if (values_[source].mask) {
    Mask mask = *values_[source].mask;
    for (Bound& bound : mask) map_bound(bound, spread);
    values_[result].mask = std::move(mask);
  }
  return {};
}

Result<NodeId> Lowering::buffered(ValueId value) {
  const NodeId node = node_of(value);
  return builder_.row_major_buffer(node, shape_of(value), graph_[node].element);
}

TileSide Lowering::result_side(const Operation& op, tile_ir::ElementType format) {
  Node node = node_for(op.results[0], NodeKind::buffer, op);
  node.format = format;
  node.strides = row_major(node.shape);
  node.owned = true;
  node.buffer = emitter_.new_buffer(static_cast<std::size_t>(element_count(node.shape)) * tile_ir::byte_size(format));
  TileSide side{.buffer = node.buffer, .strides = row_major(type_of(op.results[0]).shape)};
  bind_node(op.results[0], std::move(node));
  return side;
}

void Lowering::append_copy(CopyStep step) {
  emitter_.touch(step.src.buffer);
  emitter_.touch(step.dst.buffer);
  emitter_.append(std::move(step));
}

Status Lowering::lower_permute(const Operation& op) {
  const auto [source, result] = std::pair(op.operands[0], op.results[0]);
  const NodeId id = node_of(source);
  if (graph_[id].shape.empty()) {
    alias(result, source);
    return {};
  }
  const Shape& from = type_of(source).shape;
  const Shape& to = type_of(result).shape;
  const std::vector<std::int64_t>& permutation = op.find(AttrName::permutation)->numbers;
  const auto linear_permuted = [&](const Linear& linear) {
    return std::optional(Linear{
        linear.base, without_unit_dimensions(permuted(unsqueezed(linear.strides, from, zero()), permutation), to)});
  };
  if (values_[source].linear) {
    graph_.consume(id);
    bind_linear(result, *mapped({*values_[source].linear, values_[source].wraps}, linear_permuted), op);
    return {};
  }
  if (graph_[id].kind == NodeKind::load && graph_[id].uses == 1 && graph_[id].operands.empty()) {
    // Reading memory in the other order saves the copy.
    Node load = node_for(result, NodeKind::load, op);
    load.element = graph_[id].element;
    load.access = graph_[id].access;
    Ramp address = *mapped({load.access.address, load.access.wraps}, linear_permuted);
    load.access.address = std::move(address.value);
    load.access.wraps = std::move(address.wraps);
    for (Bound& bound : load.access.bounds) map_bound(bound, linear_permuted);
    graph_.consume(id);
    bind_node(result, std::move(load));
    return {};
  }
  TILEGYM_TRY(builder_.materialise(id));
  const Node node = graph_[id];
  CopyStep step{.extents = to, .element_bytes = static_cast<std::uint32_t>(tile_ir::byte_size(node.format))};
  step.dst = result_side(op, node.format);
  step.src = {.buffer = node.buffer, .strides = permuted(unsqueezed(node.strides, from, std::int64_t{0}), permutation)};
  append_copy(std::move(step));
  graph_.consume(id);
  return {};
}

Status Lowering::lower_cat(const Operation& op) {
  const auto dim = static_cast<std::size_t>(op.integer(AttrName::dim));
  const tile_ir::ElementType format = buffer_format(node_for(op.results[0], NodeKind::buffer, op).element);
  std::array<BufferId, 2> sources{};
  for (std::size_t i = 0; i < 2; ++i) {
    TILEGYM_ASSIGN(const NodeId node,
                   builder_.row_major_buffer(node_of(op.operands[i]), shape_of(op.operands[i]), format));
    sources[i] = graph_[node].buffer;
  }
  TileSide target = result_side(op, format);
  for (std::size_t i = 0; i < 2; ++i) {
    const Shape& extents = type_of(op.operands[i]).shape;
    CopyStep step{.extents = extents, .element_bytes = static_cast<std::uint32_t>(tile_ir::byte_size(format))};
    step.dst = target;
    step.src = {.buffer = sources[i], .strides = row_major(extents)};
    append_copy(std::move(step));
    target.offset += extents[dim] * target.strides[dim];
    graph_.consume(node_of(op.operands[i]));
  }
  return {};
}

Status Lowering::lower_extract(const Operation& op) {
  const ValueId source = op.operands[0];
  const NodeId id = node_of(source);
  if (graph_[id].shape.empty()) {
    alias(op.results[0], source);
    return {};
  }
  const tile_ir::ElementType format = buffer_format(graph_[id].element);
  TILEGYM_ASSIGN(const NodeId whole, builder_.row_major_buffer(id, shape_of(source), format));
  const Shape& from = type_of(source).shape;
  const Shape& extents = type_of(op.results[0]).shape;
  CopyStep step{.extents = extents, .element_bytes = static_cast<std::uint32_t>(tile_ir::byte_size(format))};
  step.src = {.buffer = graph_[whole].buffer, .strides = row_major(from)};
  for (std::size_t d = 0; d < extents.size(); ++d) {
    TILEGYM_ASSIGN(const SlotId index, slot_of(op.operands[d + 1]));
    step.src.slices.push_back({index, extents[d] * step.src.strides[d], from[d] / extents[d]});
    graph_.consume(node_of(op.operands[d + 1]));
  }
  step.dst = result_side(op, format);
  append_copy(std::move(step));
  graph_.consume(id);
  return {};
}

}  // namespace tilegym::cpu
