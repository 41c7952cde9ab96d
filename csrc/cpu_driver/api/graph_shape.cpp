#include <algorithm>
#include <array>
#include <string>

#include "cpu_driver/api/graph.h"

// Nodes and edges of a graph: questions about them and changes to them.

namespace tilegym::cpu {
namespace {

/// Fills a caller's array of `*count` places and says in `*count` how many were filled; without an array, how many
/// there are. Places beyond are nulled, as the API says.
CUresult give_list(const std::vector<CUgraphNode>& found, CUgraphNode* out, std::size_t* count) {
  if (count == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the pointer for the count is null");
  if (out != nullptr) {
    const std::size_t filled = std::min(*count, found.size());
    std::copy_n(found.begin(), filled, out);
    std::fill(out + filled, out + *count, nullptr);
    *count = filled;
  } else {
    *count = found.size();
  }
  return CUDA_SUCCESS;
}

template <class Choose>
CUresult give_nodes(CUgraph handle, CUgraphNode* out, std::size_t* count, Choose choose) {
  std::shared_ptr<Graph> graph;
  TILEGYM_CU_TRY(find_graph(handle, graph));
  const std::scoped_lock lock(graph_lock());
  std::vector<CUgraphNode> found;
  for (const auto& node : graph->nodes()) {
    if (choose(*node)) found.push_back(node->handle);
  }
  return give_list(found, out, count);
}

CUresult give_dependencies(CUgraphNode handle, CUgraphNode* out, std::size_t* count) {
  const std::scoped_lock lock(graph_lock());
  std::shared_ptr<GraphNode> node;
  TILEGYM_CU_TRY(find_node(handle, node));
  std::vector<CUgraphNode> found;
  for (const auto& dependency : node->dependencies) found.push_back(dependency->handle);
  return give_list(found, out, count);
}

CUresult give_dependents(CUgraphNode handle, CUgraphNode* out, std::size_t* count) {
  const std::scoped_lock lock(graph_lock());
  std::shared_ptr<GraphNode> node;
  TILEGYM_CU_TRY(find_node(handle, node));
  std::vector<CUgraphNode> found;
  for (const auto& other : node->graph->nodes()) {
    const auto& before = other->dependencies;
    if (std::find(before.begin(), before.end(), node) != before.end()) found.push_back(other->handle);
  }
  return give_list(found, out, count);
}

CUresult give_edges(CUgraph handle, CUgraphNode* from, CUgraphNode* to, std::size_t* count) {
  std::shared_ptr<Graph> graph;
  TILEGYM_CU_TRY(find_graph(handle, graph));
  const std::scoped_lock lock(graph_lock());
  std::vector<CUgraphNode> sources;
  std::vector<CUgraphNode> targets;
  for (const auto& node : graph->nodes()) {
    for (const auto& dependency : node->dependencies) {
      sources.push_back(dependency->handle);
      targets.push_back(node->handle);
    }
  }
  if ((from == nullptr) != (to == nullptr)) return fail(CUDA_ERROR_INVALID_VALUE, "one of the arrays is null");
  std::size_t places = count == nullptr ? 0 : *count;
  TILEGYM_CU_TRY(give_list(targets, to, count == nullptr ? nullptr : &places));
  return give_list(sources, from, count);
}

CUresult change_edges(CUgraph handle, std::span<const CUgraphNode> from, std::span<const CUgraphNode> to, bool adds) {
  std::shared_ptr<Graph> graph;
  TILEGYM_CU_TRY(find_graph(handle, graph));
  const std::scoped_lock lock(graph_lock());
  for (std::size_t i = 0; i < from.size(); ++i) {
    NodeList ends;
    TILEGYM_CU_TRY(find_nodes(*graph, std::array{from[i], to[i]}, ends));
    auto& before = ends[1]->dependencies;
    const auto place = std::find(before.begin(), before.end(), ends[0]);
    if (adds == (place != before.end())) {
      return fail(CUDA_ERROR_INVALID_VALUE, adds ? "the edge exists already" : "there is no such edge");
    }
    if (adds) {
      before.push_back(ends[0]);
    } else {
      before.erase(place);
    }
  }
  return CUDA_SUCCESS;
}

CUresult check_arrays(const CUgraphNode* from, const CUgraphNode* to, std::size_t count) {
  if (count == 0 || (from != nullptr && to != nullptr)) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE, "an array of nodes is null");
}

CUresult add_edges(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, std::size_t count) {
  TILEGYM_CU_TRY(check_arrays(from, to, count));
  return change_edges(graph, {from, count}, {to, count}, /*adds=*/true);
}

CUresult remove_edges(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, std::size_t count) {
  TILEGYM_CU_TRY(check_arrays(from, to, count));
  return change_edges(graph, {from, count}, {to, count}, /*adds=*/false);
}

CUresult node_type(CUgraphNode handle, CUgraphNodeType* out) {
  const std::scoped_lock lock(graph_lock());
  std::shared_ptr<GraphNode> node;
  TILEGYM_CU_TRY(find_node(handle, node));
  return give(out, type_of(node->operation));
}

CUresult destroy_node(CUgraphNode handle) {
  const std::scoped_lock lock(graph_lock());
  std::shared_ptr<GraphNode> node;
  TILEGYM_CU_TRY(find_node(handle, node));
  node->graph->remove(*node);
  return CUDA_SUCCESS;
}

CUresult child_graph(CUgraphNode handle, CUgraph* out) {
  const std::scoped_lock lock(graph_lock());
  std::shared_ptr<GraphNode> node;
  TILEGYM_CU_TRY(find_node(handle, node));
  const auto* child = std::get_if<std::shared_ptr<Graph>>(&node->operation);
  if (child == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the node is of another type");
  return give(out, (*child)->handle != nullptr ? (*child)->handle : publish(*child));
}

/// Edge data says what an edge waits for; every edge here waits for all of its node.
void clear_edge_data(CUgraphEdgeData* data, const std::size_t* count) {
  if (data != nullptr && count != nullptr) std::fill_n(data, *count, CUgraphEdgeData{});
}

}  // namespace
}  // namespace tilegym::cpu

using namespace tilegym::cpu;

extern "C" {

CUresult CUDAAPI cuGraphGetNodes(CUgraph graph, CUgraphNode* out, size_t* count) {
  return entry(__func__, [&] { return give_nodes(graph, out, count, [](const GraphNode&) { return true; }); });
}
CUresult CUDAAPI cuGraphGetRootNodes(CUgraph graph, CUgraphNode* out, size_t* count) {
  return entry(__func__, [&] {
    return give_nodes(graph, out, count, [](const auto& node) { return node.dependencies.empty(); });
  });
}
CUresult CUDAAPI cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  return entry(__func__, [&] { return give_edges(graph, from, to, count); });
}
CUresult CUDAAPI cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* data,
                                    size_t* count) {
  return entry(__func__, [&]() -> CUresult {
    TILEGYM_CU_TRY(give_edges(graph, from, to, count));
    return clear_edge_data(from == nullptr ? nullptr : data, count), CUDA_SUCCESS;
  });
}
CUresult CUDAAPI cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* out, size_t* count) {
  return entry(__func__, [&] { return give_dependencies(node, out, count); });
}
CUresult CUDAAPI cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* out, CUgraphEdgeData* data,
                                               size_t* count) {
  return entry(__func__, [&]() -> CUresult {
    TILEGYM_CU_TRY(give_dependencies(node, out, count));
    return clear_edge_data(out == nullptr ? nullptr : data, count), CUDA_SUCCESS;
  });
}
CUresult CUDAAPI cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* out, size_t* count) {
  return entry(__func__, [&] { return give_dependents(node, out, count); });
}
CUresult CUDAAPI cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode* out, CUgraphEdgeData* data,
                                                 size_t* count) {
  return entry(__func__, [&]() -> CUresult {
    TILEGYM_CU_TRY(give_dependents(node, out, count));
    return clear_edge_data(out == nullptr ? nullptr : data, count), CUDA_SUCCESS;
  });
}
CUresult CUDAAPI cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to, size_t count) {
  return entry(__func__, [&] { return add_edges(graph, from, to, count); });
}
CUresult CUDAAPI cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                           const CUgraphEdgeData*, size_t count) {
  return entry(__func__, [&] { return add_edges(graph, from, to, count); });
}
CUresult CUDAAPI cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                           size_t count) {
  return entry(__func__, [&] { return remove_edges(graph, from, to, count); });
}
CUresult CUDAAPI cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                              const CUgraphEdgeData*, size_t count) {
  return entry(__func__, [&] { return remove_edges(graph, from, to, count); });
}
CUresult CUDAAPI cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* out) {
  return entry(__func__, [&] { return node_type(node, out); });
}
CUresult CUDAAPI cuGraphDestroyNode(CUgraphNode node) {
  return entry(__func__, [&] { return destroy_node(node); });
}
CUresult CUDAAPI cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* out) {
  return entry(__func__, [&] { return child_graph(node, out); });
}

}  // extern "C"
