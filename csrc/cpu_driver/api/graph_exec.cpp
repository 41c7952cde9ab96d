#include "cpu_driver/api/graph_exec.h"

#include <algorithm>
#include <string>

#include "cpu_driver/api/capture.h"
#include "cpu_driver/api/prepared_launch.h"

namespace tilegym::cpu {
namespace {

GraphExecTable& graph_execs() noexcept {
  static auto& table = *new GraphExecTable;
  return table;
}

CUresult find_exec(CUgraphExec handle, std::shared_ptr<GraphExec>& exec) {
  TILEGYM_CU_TRY(check_initialized());
  exec = graph_execs().share(handle);
  return exec != nullptr ? CUDA_SUCCESS : fail(CUDA_ERROR_INVALID_VALUE, "the executable graph's handle is not live");
}

void replace_all(GraphExec& exec, const FlatGraph& flat) {
  auto operations = std::make_shared<std::vector<Operation>>();
  exec.nodes.clear();
  for (const auto& [node, operation] : flat) {
    exec.nodes.push_back(node);
    operations->push_back(operation);
  }
  exec.operations = std::move(operations);
}

CUresult flatten(CUgraph handle, FlatGraph& flat) {
  std::shared_ptr<Graph> graph;
  TILEGYM_CU_TRY(find_graph(handle, graph));
  return graph->flatten(flat);
}

CUresult instantiate(CUgraphExec* out, CUgraph handle, unsigned long long flags) {
  constexpr unsigned long long kKnown = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                        CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                                        CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;
  if (out == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the pointer for the executable graph is null");
  if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0) {
    return fail(CUDA_ERROR_NOT_SUPPORTED, "graphs cannot be launched by kernels");
  }
  if ((flags & ~kKnown) != 0) return fail(CUDA_ERROR_INVALID_VALUE, "flags: an unknown bit is set");
  const std::scoped_lock lock(graph_lock());
  FlatGraph flat;
  TILEGYM_CU_TRY(flatten(handle, flat));
  auto exec = std::make_shared<GraphExec>();
  exec->flags = flags;
  replace_all(*exec, flat);
  *out = graph_execs().insert(std::move(exec));
  return CUDA_SUCCESS;
}

/// One run of an executable graph, after the run before, wherever that went.
struct GraphRun {
  std::shared_ptr<EventRecord> previous;
  OperationRun operations;

  Failure operator()() const {
    if (previous != nullptr) previous->wait();
    return operations.run();
  }
};

/// The operations as a graph of their own, one after the other.
std::shared_ptr<Graph> as_child(const GraphExec& exec) {
  auto child = std::make_shared<Graph>();
  const std::scoped_lock lock(graph_lock());
  NodeList previous;
  for (const Operation& operation : *exec.operations) previous = {child->add(operation, previous)};
  return child;
}

CUresult launch(CUgraphExec handle, CUstream stream) {
  Lane lane;
  TILEGYM_CU_TRY(find_lane(stream, lane));
  std::shared_ptr<GraphExec> exec;
  TILEGYM_CU_TRY(find_exec(handle, exec));
  if (lane.stream != nullptr && lane.stream->capturing.load(std::memory_order_acquire)) {
    return capture_operation(*lane.stream, as_child(*exec));
  }
  if (lane.stream == nullptr) TILEGYM_CU_TRY(join_default_stream(*lane.context));
  auto finished = std::make_shared<EventRecord>();
  std::unique_lock lock(graph_lock());
  const GraphRun run{std::exchange(exec->last, finished), OperationRun(exec->operations)};
  lock.unlock();
  auto records = run.operations.recordings();
  records.push_back(std::move(finished));
  if (lane.stream != nullptr) {
    lane.stream->submit({run, std::move(records)});
    return CUDA_SUCCESS;
  }
  const Failure failure = run();
  for (const auto& record : records) record->complete();
  return failure.code == CUDA_SUCCESS ? CUDA_SUCCESS : report(failure.code, failure.report);
}

CUresult upload(CUgraphExec handle, CUstream stream) {
  Lane lane;
  TILEGYM_CU_TRY(find_lane(stream, lane));
  std::shared_ptr<GraphExec> exec;
  return find_exec(handle, exec);
}

/// Same kinds of operations in the same order: what an update may change is their parameters.
bool same_shape(const GraphExec& exec, const FlatGraph& flat) {
  return std::equal(
      flat.begin(), flat.end(), exec.operations->begin(), exec.operations->end(),
      [](const auto& node, const Operation& operation) { return node.second.index() == operation.index(); });
}

CUresult update(CUgraphExec handle, CUgraph graph, CUgraphExecUpdateResult* result) {
  std::shared_ptr<GraphExec> exec;
  TILEGYM_CU_TRY(find_exec(handle, exec));
  const std::scoped_lock lock(graph_lock());
  FlatGraph flat;
  TILEGYM_CU_TRY(flatten(graph, flat));
  const bool same = same_shape(*exec, flat);
  if (result != nullptr) *result = same ? CU_GRAPH_EXEC_UPDATE_SUCCESS : CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
  if (!same) return fail(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE, "the graph has other nodes than the executable one");
  replace_all(*exec, flat);
  return CUDA_SUCCESS;
}

}  // namespace

CUresult replace_in_exec(CUgraphExec handle, CUgraphNode node, Operation operation) {
  std::shared_ptr<GraphExec> exec;
  TILEGYM_CU_TRY(find_exec(handle, exec));
  const std::scoped_lock lock(graph_lock());
  const auto found = std::find(exec->nodes.begin(), exec->nodes.end(), node);
  if (found == exec->nodes.end()) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the node is not one that the executable graph was made from");
  }
  const auto index = static_cast<std::size_t>(found - exec->nodes.begin());
  auto operations = std::make_shared<std::vector<Operation>>(*exec->operations);
  if ((*operations)[index].index() != operation.index()) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the node is of another type");
  }
  (*operations)[index] = std::move(operation);
  exec->operations = std::move(operations);
  return CUDA_SUCCESS;
}

}  // namespace tilegym::cpu

using namespace tilegym::cpu;

extern "C" {

CUresult CUDAAPI cuGraphInstantiateWithFlags(CUgraphExec* out, CUgraph graph, unsigned long long flags) {
  return entry(__func__, [&] { return instantiate(out, graph, flags); });
}

CUresult CUDAAPI cuGraphInstantiate(CUgraphExec* out, CUgraph graph, CUgraphNode* failed, char* log, size_t bytes) {
  return entry(__func__, [&] {
    if (failed != nullptr) *failed = nullptr;
    if (log != nullptr && bytes != 0) *log = '\0';
    return instantiate(out, graph, 0);
  });
}

CUresult CUDAAPI cuGraphInstantiateWithParams(CUgraphExec* out, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* params) {
  return entry(__func__, [&]() -> CUresult {
    if (params == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the parameters are null");
    const CUresult code = instantiate(out, graph, params->flags);
    params->hErrNode_out = nullptr;
    params->result_out = code == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
    return code;
  });
}

CUresult CUDAAPI cuGraphExecDestroy(CUgraphExec handle) {
  return entry(__func__, [&]() -> CUresult {
    std::shared_ptr<GraphExec> exec;
    TILEGYM_CU_TRY(find_exec(handle, exec));
    graph_execs().erase(handle);
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuGraphExecGetFlags(CUgraphExec handle, cuuint64_t* out) {
  return entry(__func__, [&]() -> CUresult {
    std::shared_ptr<GraphExec> exec;
    TILEGYM_CU_TRY(find_exec(handle, exec));
    return give(out, cuuint64_t{exec->flags});
  });
}

CUresult CUDAAPI cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  return entry(__func__, [&] { return launch(exec, stream); });
}

// There is no other memory to take the graph to.
CUresult CUDAAPI cuGraphUpload(CUgraphExec exec, CUstream stream) {
  return entry(__func__, [&] { return upload(exec, stream); });
}

CUresult CUDAAPI cuGraphExecUpdate(CUgraphExec exec, CUgraph graph, CUgraphNode* failed,
                                   CUgraphExecUpdateResult* result) {
  return entry(__func__, [&] {
    if (failed != nullptr) *failed = nullptr;
    return update(exec, graph, result);
  });
}

CUresult CUDAAPI cuGraphExecUpdate_v2(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
  return entry(__func__, [&] {
    if (info != nullptr) *info = {};
    return update(exec, graph, info == nullptr ? nullptr : &info->result);
  });
}

TILEGYM_CU_ALIAS(cuGraphInstantiate_v2, cuGraphInstantiate);

}  // extern "C"
