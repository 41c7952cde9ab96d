#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "cpu_driver/api/context.h"
#include "cpu_driver/api/operation.h"

namespace tilegym::cpu {

/// Guards graphs, their nodes and stream captures. Taken before driver_lock(); never held while an operation runs.
[[nodiscard]] std::mutex& graph_lock() noexcept;

/// Memory that a graph's nodes allocate: there from the making of the node until nothing refers to the graph.
class GraphAllocation {
 public:
  explicit GraphAllocation(CUdeviceptr address) : address_(address) {}
  GraphAllocation(const GraphAllocation&) = delete;
  GraphAllocation& operator=(const GraphAllocation&) = delete;
  ~GraphAllocation();

  [[nodiscard]] CUdeviceptr address() const noexcept { return address_; }

 private:
  const CUdeviceptr address_;
};

/// Allocates for a graph of the context.
CUresult allocate_for_graph(const Context& context, std::size_t bytes, std::shared_ptr<GraphAllocation>& out);

class Graph;

/// An operation with the nodes it comes after. Everything here is guarded by graph_lock().
struct GraphNode {
  static constexpr std::uintptr_t kHandleKind = 7;

  Operation operation;
  Graph* graph = nullptr;  ///< null once the node is destroyed
  std::vector<std::shared_ptr<GraphNode>> dependencies;
  CUgraphNode handle = nullptr;
};
using GraphNodeTable = HandleTable<GraphNode, CUgraphNode>;
[[nodiscard]] GraphNodeTable& graph_nodes() noexcept;

using NodeList = std::vector<std::shared_ptr<GraphNode>>;
/// Operations in an order to run in, each with the node it comes from.
using FlatGraph = std::vector<std::pair<CUgraphNode, Operation>>;

/// A graph. Members are called with graph_lock() held.
class Graph {
 public:
  static constexpr std::uintptr_t kHandleKind = 8;

  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  /// Ends the nodes' handles.
  ~Graph();

  std::shared_ptr<GraphNode> add(Operation operation, NodeList dependencies);
  /// Takes a node out, with the edges from and to it.
  void remove(const GraphNode& node);
  [[nodiscard]] const NodeList& nodes() const noexcept { return nodes_; }

  /// Appends the operations, those of child graphs in their place, nodes in the order of their making as far as the
  /// edges allow. CUDA_ERROR_INVALID_VALUE where the edges form a cycle.
  CUresult flatten(FlatGraph& out) const;
  /// A copy with nodes of its own; `copies` gets original and copy of each node.
  [[nodiscard]] std::shared_ptr<Graph> clone(
      std::vector<std::pair<const GraphNode*, CUgraphNode>>* copies = nullptr) const;

  CUgraph handle = nullptr;
  /// Nodes of the graph that this one was cloned from, with their copies here.
  std::vector<std::pair<CUgraphNode, CUgraphNode>> origins;

 private:
  NodeList nodes_;
};
using GraphTable = HandleTable<Graph, CUgraph>;
[[nodiscard]] GraphTable& graphs() noexcept;

/// Makes the graph known under a handle.
CUgraph publish(const std::shared_ptr<Graph>& graph);
CUresult find_graph(CUgraph handle, std::shared_ptr<Graph>& graph);
/// A live node. graph_lock() is held.
CUresult find_node(CUgraphNode handle, std::shared_ptr<GraphNode>& node);
/// The nodes behind handles, all of `graph`. graph_lock() is held.
CUresult find_nodes(const Graph& graph, std::span<const CUgraphNode> handles, NodeList& nodes);

}  // namespace tilegym::cpu
