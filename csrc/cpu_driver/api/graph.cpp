#include "cpu_driver/api/graph.h"

#include <algorithm>
#include <map>
#include <new>
#include <set>

#include "cpu_driver/api/memory.h"

namespace tilegym::cpu {
namespace {

/// A fork while another thread works on a graph leaves the mutex locked in the child, for good.
void renew_lock() {
  new (&graph_lock()) std::mutex;
}
const bool registered = (on_forked_child(renew_lock), true);

/// Orders nodes after their dependencies. Depth first with a stack of its own: chains are as long as programs make
/// them.
class Ordering {
 public:
  /// False where the edges form a cycle.
  bool visit(const std::shared_ptr<GraphNode>& root) {
    open(root);
    while (!path_.empty()) {
      auto& [node, next] = path_.back();
      if (next == node->dependencies.size()) {
        close();
        continue;
      }
      const std::shared_ptr<GraphNode> dependency = node->dependencies[next++];
      if (on_path_.contains(dependency.get())) return false;
      open(dependency);
    }
    return true;
  }
  [[nodiscard]] const NodeList& ordered() const noexcept { return ordered_; }

 private:
  void open(const std::shared_ptr<GraphNode>& node) {
    if (done_.contains(node.get())) return;
    path_.emplace_back(node, 0);
    on_path_.insert(node.get());
  }
  void close() {
    ordered_.push_back(path_.back().first);
    done_.insert(ordered_.back().get());
    on_path_.erase(ordered_.back().get());
    path_.pop_back();
  }

  std::vector<std::pair<std::shared_ptr<GraphNode>, std::size_t>> path_;
  std::set<const GraphNode*> on_path_;
  std::set<const GraphNode*> done_;
  NodeList ordered_;
};

}  // namespace

std::mutex& graph_lock() noexcept {
  static auto& lock = *new std::mutex;
  return lock;
}

GraphNodeTable& graph_nodes() noexcept {
  static auto& table = *new GraphNodeTable;
  return table;
}
GraphTable& graphs() noexcept {
  static auto& table = *new GraphTable;
  return table;
}

GraphAllocation::~GraphAllocation() {
  release_graph_allocation(address_);
}

CUresult allocate_for_graph(const Context& context, std::size_t bytes, std::shared_ptr<GraphAllocation>& out) {
  void* memory = nullptr;
  TILEGYM_CU_TRY(allocate(context, bytes, MemoryKind::graph, &memory));
  out = std::make_shared<GraphAllocation>(reinterpret_cast<CUdeviceptr>(memory));
  return CUDA_SUCCESS;
}

Graph::~Graph() {
  for (const auto& node : nodes_) {
    const auto* child = std::get_if<std::shared_ptr<Graph>>(&node->operation);
    if (child != nullptr) graphs().erase((*child)->handle);
    node->graph = nullptr;
    node->dependencies.clear();
    graph_nodes().erase(node->handle);
  }
}

std::shared_ptr<GraphNode> Graph::add(Operation operation, NodeList dependencies) {
  auto node = std::make_shared<GraphNode>();
  node->operation = std::move(operation);
  node->graph = this;
  node->dependencies = std::move(dependencies);
  node->handle = graph_nodes().insert(node);
  return nodes_.emplace_back(std::move(node));
}

void Graph::remove(const GraphNode& gone) {
  for (const auto& node : nodes_) {
    std::erase_if(node->dependencies, [&](const auto& dependency) { return dependency.get() == &gone; });
  }
  const auto place = std::find_if(nodes_.begin(), nodes_.end(), [&](const auto& node) { return node.get() == &gone; });
  const std::shared_ptr<GraphNode> node = *place;
  nodes_.erase(place);
  node->graph = nullptr;
  node->dependencies.clear();
  graph_nodes().erase(node->handle);
}

CUresult Graph::flatten(FlatGraph& out) const {
  Ordering ordering;
  for (const auto& node : nodes_) {
    if (!ordering.visit(node)) return fail(CUDA_ERROR_INVALID_VALUE, "the edges of the graph form a cycle");
  }
  for (const auto& node : ordering.ordered()) {
    if (const auto* child = std::get_if<std::shared_ptr<Graph>>(&node->operation)) {
      TILEGYM_CU_TRY((*child)->flatten(out));
    } else {
      out.emplace_back(node->handle, node->operation);
    }
  }
  return CUDA_SUCCESS;
}

std::shared_ptr<Graph> Graph::clone(std::vector<std::pair<const GraphNode*, CUgraphNode>>* copies) const {
  auto copy = std::make_shared<Graph>();
  std::map<const GraphNode*, std::shared_ptr<GraphNode>> made;
  for (const auto& node : nodes_) {
    const auto* child = std::get_if<std::shared_ptr<Graph>>(&node->operation);
    auto twin = copy->add(child == nullptr ? node->operation : Operation((*child)->clone(copies)), {});
    copy->origins.emplace_back(node->handle, twin->handle);
    if (copies != nullptr) copies->emplace_back(node.get(), twin->handle);
    made.emplace(node.get(), std::move(twin));
  }
  for (const auto& node : nodes_) {
    for (const auto& dependency : node->dependencies) {
      made.at(node.get())->dependencies.push_back(made.at(dependency.get()));
    }
  }
  return copy;
}

CUgraph publish(const std::shared_ptr<Graph>& graph) {
  return graph->handle = graphs().insert(graph);
}

CUresult find_graph(CUgraph handle, std::shared_ptr<Graph>& graph) {
  TILEGYM_CU_TRY(check_initialized());
  graph = graphs().share(handle);
  return graph != nullptr ? CUDA_SUCCESS : fail(CUDA_ERROR_INVALID_VALUE, "the graph handle is not live");
}

CUresult find_node(CUgraphNode handle, std::shared_ptr<GraphNode>& node) {
  TILEGYM_CU_TRY(check_initialized());
  node = graph_nodes().share(handle);
  if (node != nullptr && node->graph != nullptr) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE, "the node handle is not live");
}

CUresult find_nodes(const Graph& graph, std::span<const CUgraphNode> handles, NodeList& nodes) {
  for (const CUgraphNode handle : handles) {
    std::shared_ptr<GraphNode> node;
    TILEGYM_CU_TRY(find_node(handle, node));
    if (node->graph != &graph) return fail(CUDA_ERROR_INVALID_VALUE, "a dependency is a node of another graph");
    if (std::find(nodes.begin(), nodes.end(), node) != nodes.end()) {
      return fail(CUDA_ERROR_INVALID_VALUE, "a dependency is listed twice");
    }
    nodes.push_back(std::move(node));
  }
  return CUDA_SUCCESS;
}

}  // namespace tilegym::cpu
