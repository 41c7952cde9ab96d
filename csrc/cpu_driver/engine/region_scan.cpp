#include "cpu_driver/engine/region_scan.h"

#include <algorithm>

namespace tilegym::cpu {
namespace {

void visit(const Graph& graph, NodeId id, RegionScan& scan) {
  if (!graph[id].pending() || std::ranges::find(scan.order, id) != scan.order.end()) return;
  for (const NodeId operand : graph[id].operands) {
    if (operand != kNoNode) visit(graph, operand, scan);
  }
  scan.order.push_back(id);
}

}  // namespace

std::vector<NodeId> consumed_roots(const RegionOutputs& outputs) {
  std::vector<NodeId> roots;
  const auto add = [&roots](NodeId id) {
    if (id != kNoNode) roots.push_back(id);
  };
  if (outputs.store) {
    for (const NodeId id : {outputs.store->addresses, outputs.store->mask, outputs.store->value}) add(id);
  }
  if (outputs.reduce) {
    for (const NodeId id : outputs.reduce->operands) add(id);
  }
  return roots;
}

RegionScan scan_region(const Graph& graph, const RegionOutputs& outputs) {
  RegionScan scan;
  for (const NodeId root : consumed_roots(outputs)) {
    visit(graph, root, scan);
    ++scan.references[root];
  }
  for (const auto& [id, slot] : outputs.slots) visit(graph, id, scan);
  for (const BufferOut& out : outputs.buffers) visit(graph, out.node, scan);
  for (const NodeId id : scan.order) {
    if (is_cheap(graph, id)) continue;
    for (const NodeId operand : graph[id].operands) {
      if (operand != kNoNode) ++scan.references[operand];
    }
  }
  return scan;
}

bool is_cheap(const Graph& graph, NodeId id) {
  const Node& node = graph[id];
  const auto is_index = [&](NodeId operand) {
    return operand == kNoNode || graph[operand].kind == NodeKind::uniform || graph[operand].kind == NodeKind::ramp;
  };
  const auto is_uniform = [&](NodeId operand) {
    return operand == kNoNode || graph[operand].kind == NodeKind::uniform;
  };
  if (node.kind == NodeKind::ramp) return true;
  if (node.kind == NodeKind::load) return std::ranges::all_of(node.operands, is_uniform);
  return node.kind == NodeKind::compute && std::ranges::all_of(node.operands, is_index);
}

void consume_region(Graph& graph, const RegionScan& scan, const RegionOutputs& outputs) {
  for (const NodeId root : consumed_roots(outputs)) graph.consume(root);
  for (const NodeId id : scan.order) {
    // A cheap value may be computed again, so it goes on using its operands.
    if (is_cheap(graph, id)) continue;
    const std::vector<NodeId> operands = graph[id].operands;
    for (const NodeId operand : operands) graph.consume(operand);
  }
}

}  // namespace tilegym::cpu
