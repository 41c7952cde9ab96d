#pragma once

#include <map>
#include <vector>

#include "cpu_driver/engine/region_builder.h"

namespace tilegym::cpu {

/// The pending nodes that a region computes, operands before users, and how often each node is read in it.
struct RegionScan {
  std::vector<NodeId> order;
  std::map<NodeId, std::uint32_t> references;

  [[nodiscard]] std::uint32_t references_to(NodeId id) const {
    const auto found = references.find(id);
    return found == references.end() ? 0 : found->second;
  }
};

/// Nodes that the outputs read directly, once per reference.
[[nodiscard]] std::vector<NodeId> consumed_roots(const RegionOutputs& outputs);

/// Precondition: every node of another shape that the outputs need is already bound.
[[nodiscard]] RegionScan scan_region(const Graph& graph, const RegionOutputs& outputs);

/// Whether computing the value again is as cheap as keeping it: index arithmetic, and loads from memory that has not
/// changed since.
[[nodiscard]] bool is_cheap(const Graph& graph, NodeId id);

/// Removes the uses that the region has served.
void consume_region(Graph& graph, const RegionScan& scan, const RegionOutputs& outputs);

}  // namespace tilegym::cpu
