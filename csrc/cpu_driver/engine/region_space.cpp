#include "cpu_driver/engine/region_space.h"

#include <algorithm>
#include <set>

namespace tilegym::cpu {
namespace {

/// Finds the pairs of adjacent dimensions (d, d + 1) that can be walked as one.
class Merge {
 public:
  Merge(const Emitter& emitter, const Shape& shape) : emitter_(emitter), shape_(shape) {
    for (std::size_t d = 0; d + 1 < shape.size(); ++d) pairs_.insert(d);
  }

  void forbid(std::size_t d) { pairs_.erase(d); }
  void restrict_to(const std::vector<std::int64_t>& strides) {
    std::erase_if(pairs_, [&](std::size_t d) { return strides[d] != strides[d + 1] * shape_[d + 1]; });
  }
  void restrict_to(const Linear& linear) {
    std::erase_if(pairs_, [&](std::size_t d) {
      const auto outer = emitter_.constant_of(linear.strides[d]);
      const auto inner = emitter_.constant_of(linear.strides[d + 1]);
      return !outer || !inner || *outer != *inner * shape_[d + 1];
    });
  }
  void restrict_to(const Linear& linear, const std::vector<Wrap>& wraps) {
    restrict_to(linear);
    for (const Wrap& wrap : wraps) restrict_to(wrap.index);
  }
  void restrict_to(const Access& access) {
    restrict_to(access.address, access.wraps);
    for (const Bound& bound : access.bounds) restrict_to(bound.index, bound.wraps);
  }
  void restrict_to(const Node& node) {
    if (node.shape.empty()) return;
    if (node.kind == NodeKind::buffer) restrict_to(node.strides);
    if (node.kind == NodeKind::ramp) restrict_to(node.linear, node.wraps);
    if (node.kind == NodeKind::load) restrict_to(node.access);
  }

  [[nodiscard]] bool merged(std::size_t d) const { return pairs_.contains(d); }

 private:
  const Emitter& emitter_;
  const Shape& shape_;
  std::set<std::size_t> pairs_;
};

}  // namespace

RegionSpace::RegionSpace(const Graph& graph, const Emitter& emitter, const RegionOutputs& outputs,
                         const RegionScan& scan) {
  Merge merge(emitter, outputs.shape);
  for (const NodeId id : scan.order) {
    merge.restrict_to(graph[id]);
    for (const NodeId operand : graph[id].operands) {
      if (operand != kNoNode) merge.restrict_to(graph[operand]);
    }
  }
  for (const NodeId root : consumed_roots(outputs)) merge.restrict_to(graph[root]);
  for (const BufferOut& out : outputs.buffers) merge.restrict_to(graph[out.node]);
  if (outputs.store && outputs.store->access) merge.restrict_to(*outputs.store->access);
  if (outputs.reduce) {
    merge.forbid(outputs.reduce->dim);
    if (outputs.reduce->dim > 0) merge.forbid(outputs.reduce->dim - 1);
    // Rows of the result may be padded, so its dimensions stay apart.
    for (std::size_t d = 0; d + 1 < outputs.shape.size(); ++d) merge.forbid(d);
  }
  std::int64_t extent = 1;
  for (std::size_t d = 0; d < outputs.shape.size(); ++d) {
    extent *= outputs.shape[d];
    if (merge.merged(d)) continue;
    extents_.push_back(extent);
    last_.push_back(d);
    extent = 1;
  }
  if (extents_.empty()) extents_.push_back(1);
}

bool RegionSpace::has_rows() const noexcept {
  return std::ranges::any_of(extents_.begin(), extents_.end() - 1, [](std::int64_t extent) { return extent != 1; });
}

}  // namespace tilegym::cpu
