#include "cpu_driver/engine/tile_graph.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "common/check.h"

namespace tilegym::cpu {

NodeId Graph::add(Node node) {
  const auto id = static_cast<NodeId>(nodes_.size());
  if (node.kind == NodeKind::load || node.kind == NodeKind::gather) loads_.push_back(id);
  const bool buffered = node.kind == NodeKind::buffer;
  for (const NodeId operand : node.operands) {
    if (operand != kNoNode && nodes_[operand].pending()) node.depth = std::max(node.depth, nodes_[operand].depth + 1);
  }
  nodes_.push_back(std::move(node));
  if (buffered) bind(id, nodes_[id].buffer, nodes_[id].format, nodes_[id].strides);
  return id;
}

void Graph::consume(NodeId id) {
  if (id == kNoNode) return;
  TILEGYM_CHECK(nodes_[id].uses > 0);
  --nodes_[id].uses;
}

void Graph::bind(NodeId id, BufferId buffer, tile_ir::ElementType format, std::vector<std::int64_t> strides) {
  Node& node = nodes_[id];
  node.kind = NodeKind::buffer;
  node.buffer = buffer;
  node.format = format;
  node.strides = std::move(strides);
  if (in_buffer_.size() <= buffer) in_buffer_.resize(buffer + 1);
  in_buffer_[buffer].push_back(id);
}

std::uint32_t Graph::buffer_uses(BufferId buffer) const {
  std::uint32_t uses = 0;
  if (buffer >= in_buffer_.size()) return uses;
  for (const NodeId id : in_buffer_[buffer]) {
    if (nodes_[id].kind == NodeKind::buffer && nodes_[id].buffer == buffer) uses += nodes_[id].uses;
  }
  return uses;
}

std::vector<NodeId> Graph::pending_loads() const {
  std::vector<NodeId> result;
  for (const NodeId id : loads_) {
    if (nodes_[id].pending() && nodes_[id].uses > 0) result.push_back(id);
  }
  return result;
}

Shape squeeze(const Shape& shape) {
  Shape result;
  for (const std::int64_t extent : shape) {
    if (extent != 1) result.push_back(extent);
  }
  return result;
}

std::int64_t element_count(const Shape& shape) noexcept {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies{});
}

std::vector<std::int64_t> row_major(const Shape& shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0; stride *= shape[d]) strides[d] = stride;
  return strides;
}

tile_ir::ElementType format_of(Lane lane) noexcept {
  using tile_ir::ElementType;
  switch (lane) {
    case Lane::f32:
      return ElementType::f32;
    case Lane::f64:
      return ElementType::f64;
    case Lane::i8:
      return ElementType::i8;
    case Lane::i16:
      return ElementType::i16;
    case Lane::i32:
      return ElementType::i32;
    case Lane::i64:
      return ElementType::i64;
    case Lane::mask:
      return ElementType::i1;
  }
  TILEGYM_CHECK(false);
  return ElementType::i32;
}

tile_ir::ElementType buffer_format(tile_ir::ElementType element) noexcept {
  const bool packed = element == tile_ir::ElementType::i4 || element == tile_ir::ElementType::f4e2m1fn;
  return packed ? format_of(lane_of(element)) : element;
}

bool stored_as_lanes(tile_ir::ElementType format) noexcept {
  return format == tile_ir::ElementType::tf32 || format == format_of(lane_of(format));
}

}  // namespace tilegym::cpu
