#include <algorithm>
#include <string>

#include "cpu_driver/api/copy_box.h"
#include "cpu_driver/api/graph_exec.h"
#include "cpu_driver/api/memory.h"
#include "cpu_driver/api/prepared_launch.h"
#include "cpu_driver/api/stream.h"

namespace tilegym::cpu {
namespace {

CUresult destroy(CUgraph handle) {
  std::shared_ptr<Graph> graph;
  TILEGYM_CU_TRY(find_graph(handle, graph));
  graphs().erase(handle);
  const std::scoped_lock lock(graph_lock());
  graph->handle = nullptr;
  return CUDA_SUCCESS;
}

CUresult create(CUgraph* out, unsigned flags) {
  TILEGYM_CU_TRY(check_initialized());
  if (out == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the pointer for the graph is null");
  if (flags != 0) return fail(CUDA_ERROR_INVALID_VALUE, "flags: wanted 0");
  *out = publish(std::make_shared<Graph>());
  return CUDA_SUCCESS;
}

CUresult clone(CUgraph* out, CUgraph handle) {
  std::shared_ptr<Graph> graph;
  TILEGYM_CU_TRY(find_graph(handle, graph));
  if (out == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the pointer for the graph is null");
  const std::scoped_lock lock(graph_lock());
  *out = publish(graph->clone());
  return CUDA_SUCCESS;
}

CUresult find_in_clone(CUgraphNode* out, CUgraphNode original, CUgraph handle) {
  std::shared_ptr<Graph> graph;
  TILEGYM_CU_TRY(find_graph(handle, graph));
  const std::scoped_lock lock(graph_lock());
  const auto found = std::find_if(graph->origins.begin(), graph->origins.end(),
                                  [&](const auto& pair) { return pair.first == original; });
  if (found == graph->origins.end()) return fail(CUDA_ERROR_INVALID_VALUE, "the graph is no clone of the node's graph");
  return give(out, found->second);
}

// What the parameters of each kind of node come to; an error where they make no sense.

CUresult operation_of(const CUDA_KERNEL_NODE_PARAMS* given, Operation& out) {
  if (given == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the parameters are null");
  Context* context = nullptr;
  TILEGYM_CU_TRY(current_context(context));
  const CUfunction function = given->func != nullptr ? given->func : reinterpret_cast<CUfunction>(given->kern);
  const LaunchCall call{function,
                        {given->gridDimX, given->gridDimY, given->gridDimZ},
                        {given->blockDimX, given->blockDimY, given->blockDimZ},
                        given->sharedMemBytes,
                        nullptr,
                        given->kernelParams,
                        given->extra};
  std::shared_ptr<const PreparedLaunch> launch;
  TILEGYM_CU_TRY(prepare_launch(call, *context, launch));
  out = std::move(launch);
  return CUDA_SUCCESS;
}

CUresult operation_of(const CUDA_KERNEL_NODE_PARAMS_v1* given, Operation& out) {
  if (given == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the parameters are null");
  const CUDA_KERNEL_NODE_PARAMS newer{given->func,         given->gridDimX,  given->gridDimY,  given->gridDimZ,
                                      given->blockDimX,    given->blockDimY, given->blockDimZ, given->sharedMemBytes,
                                      given->kernelParams, given->extra,     nullptr,          nullptr};
  return operation_of(&newer, out);
}

template <class Box>
CUresult operation_of(const Box* given, Operation& out) {
  if (given == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the parameters are null");
  TILEGYM_CU_TRY(check_box(*given));
  out = *given;
  return CUDA_SUCCESS;
}

CUresult operation_of(const CUDA_HOST_NODE_PARAMS* given, Operation& out) {
  if (given == nullptr || given->fn == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the host function is null");
  out = HostCall{given->fn, given->userData};
  return CUDA_SUCCESS;
}

template <class Kind>
CUresult operation_of_event(CUevent handle, Operation& out) {
  auto event = events().share(handle);
  if (event == nullptr) return fail(CUDA_ERROR_INVALID_HANDLE, "the event handle is not live");
  out = Kind{std::move(event)};
  return CUDA_SUCCESS;
}

CUresult operation_of_child(CUgraph handle, Operation& out) {
  std::shared_ptr<Graph> child;
  TILEGYM_CU_TRY(find_graph(handle, child));
  const std::scoped_lock lock(graph_lock());
  out = child->clone();
  return CUDA_SUCCESS;
}

CUresult operation_of(CUDA_MEM_ALLOC_NODE_PARAMS* given, Operation& out) {
  if (given == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the parameters are null");
  Context* context = nullptr;
  TILEGYM_CU_TRY(current_context(context));
  if (given->poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED) {
    return fail(CUDA_ERROR_NOT_SUPPORTED, "pool properties: wanted CU_MEM_ALLOCATION_TYPE_PINNED");
  }
  std::shared_ptr<GraphAllocation> memory;
  TILEGYM_CU_TRY(allocate_for_graph(*context, given->bytesize, memory));
  given->dptr = memory->address();
  out = MemoryBegin{std::move(memory)};
  return CUDA_SUCCESS;
}

CUresult operation_of_free(CUdeviceptr address, Operation& out) {
  const auto allocation = find_allocation(address);
  if (!allocation || allocation->begin != address || allocation->kind != MemoryKind::graph) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the address is no allocation of a graph");
  }
  out = MemoryEnd{address};
  return CUDA_SUCCESS;
}

/// Where a new node goes.
struct Place {
  CUgraphNode* out;
  CUgraph graph;
  const CUgraphNode* dependencies;
  std::size_t count;
};

template <class Make>
CUresult add(const Place& place, Make make) {
  std::shared_ptr<Graph> graph;
  TILEGYM_CU_TRY(find_graph(place.graph, graph));
  if (place.out == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the pointer for the node is null");
  if (place.dependencies == nullptr && place.count != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the dependencies are null");
  }
  {
    const std::scoped_lock lock(graph_lock());
    NodeList checked;
    TILEGYM_CU_TRY(find_nodes(*graph, {place.dependencies, place.count}, checked));
  }
  Operation operation;
  TILEGYM_CU_TRY(make(operation));
  const std::scoped_lock lock(graph_lock());
  NodeList dependencies;
  TILEGYM_CU_TRY(find_nodes(*graph, {place.dependencies, place.count}, dependencies));
  *place.out = graph->add(std::move(operation), std::move(dependencies))->handle;
  return CUDA_SUCCESS;
}

template <class Params>
CUresult add_by(const Place& place, Params* params) {
  return add(place, [&](Operation& out) { return operation_of(params, out); });
}

/// The operation of a node, if it is of the kind.
template <class Kind>
CUresult read_node(CUgraphNode handle, Kind& out) {
  const std::scoped_lock lock(graph_lock());
  std::shared_ptr<GraphNode> node;
  TILEGYM_CU_TRY(find_node(handle, node));
  const Kind* found = std::get_if<Kind>(&node->operation);
  if (found == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the node is of another type");
  out = *found;
  return CUDA_SUCCESS;
}

CUresult write_node(CUgraphNode handle, const Operation& operation) {
  const std::scoped_lock lock(graph_lock());
  std::shared_ptr<GraphNode> node;
  TILEGYM_CU_TRY(find_node(handle, node));
  if (node->operation.index() != operation.index())
    return fail(CUDA_ERROR_INVALID_VALUE, "the node is of another type");
  node->operation = operation;
  return CUDA_SUCCESS;
}

template <class Params>
CUresult set_by(CUgraphNode node, const Params* params) {
  Operation operation;
  TILEGYM_CU_TRY(operation_of(params, operation));
  return write_node(node, operation);
}

template <class Params>
CUresult set_in_exec_by(CUgraphExec exec, CUgraphNode node, const Params* params) {
  Operation operation;
  TILEGYM_CU_TRY(operation_of(params, operation));
  return replace_in_exec(exec, node, std::move(operation));
}

template <class Kind>
CUresult give_operation(CUgraphNode node, Kind* out) {
  if (out == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the pointer for the parameters is null");
  return read_node(node, *out);
}

CUresult give_launch(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS& out) {
  std::shared_ptr<const PreparedLaunch> launch;
  TILEGYM_CU_TRY(read_node(node, launch));
  out = launch->node_parameters();
  return CUDA_SUCCESS;
}

CUresult give_launch(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1& out) {
  CUDA_KERNEL_NODE_PARAMS newer{};
  TILEGYM_CU_TRY(give_launch(node, newer));
  out = {newer.func,      newer.gridDimX,  newer.gridDimY,       newer.gridDimZ,     newer.blockDimX,
         newer.blockDimY, newer.blockDimZ, newer.sharedMemBytes, newer.kernelParams, newer.extra};
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace tilegym::cpu

using namespace tilegym::cpu;

extern "C" {

CUresult CUDAAPI cuGraphCreate(CUgraph* out, unsigned flags) {
  return entry(__func__, [&] { return create(out, flags); });
}
CUresult CUDAAPI cuGraphDestroy(CUgraph graph) {
  return entry(__func__, [&] { return destroy(graph); });
}
CUresult CUDAAPI cuGraphClone(CUgraph* out, CUgraph graph) {
  return entry(__func__, [&] { return clone(out, graph); });
}
CUresult CUDAAPI cuGraphNodeFindInClone(CUgraphNode* out, CUgraphNode original, CUgraph graph) {
  return entry(__func__, [&] { return find_in_clone(out, original, graph); });
}

CUresult CUDAAPI cuGraphAddKernelNode_v2(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                         const CUDA_KERNEL_NODE_PARAMS* params) {
  return entry(__func__, [&] { return add_by({out, graph, dependencies, count}, params); });
}
CUresult CUDAAPI cuGraphAddKernelNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                      const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return entry(__func__, [&] { return add_by({out, graph, dependencies, count}, params); });
}
CUresult CUDAAPI cuGraphAddMemcpyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                      const CUDA_MEMCPY3D* params, CUcontext) {
  return entry(__func__, [&] { return add_by({out, graph, dependencies, count}, params); });
}
CUresult CUDAAPI cuGraphAddMemsetNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                      const CUDA_MEMSET_NODE_PARAMS* params, CUcontext) {
  return entry(__func__, [&] { return add_by({out, graph, dependencies, count}, params); });
}
CUresult CUDAAPI cuGraphAddHostNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                    const CUDA_HOST_NODE_PARAMS* params) {
  return entry(__func__, [&] { return add_by({out, graph, dependencies, count}, params); });
}
CUresult CUDAAPI cuGraphAddMemAllocNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                        CUDA_MEM_ALLOC_NODE_PARAMS* params) {
  return entry(__func__, [&] { return add_by({out, graph, dependencies, count}, params); });
}
CUresult CUDAAPI cuGraphAddMemFreeNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                       CUdeviceptr address) {
  return entry(__func__, [&] {
    return add({out, graph, dependencies, count}, [&](Operation& made) { return operation_of_free(address, made); });
  });
}
CUresult CUDAAPI cuGraphAddEmptyNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count) {
  return entry(__func__, [&] {
    return add({out, graph, dependencies, count}, [](Operation& made) { return made = Marker{}, CUDA_SUCCESS; });
  });
}
CUresult CUDAAPI cuGraphAddChildGraphNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
                                          size_t count, CUgraph child) {
  return entry(__func__, [&] {
    return add({out, graph, dependencies, count}, [&](Operation& made) { return operation_of_child(child, made); });
  });
}
CUresult CUDAAPI cuGraphAddEventRecordNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies,
                                           size_t count, CUevent event) {
  return entry(__func__, [&] {
    return add({out, graph, dependencies, count},
               [&](Operation& made) { return operation_of_event<EventRecording>(event, made); });
  });
}
CUresult CUDAAPI cuGraphAddEventWaitNode(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                         CUevent event) {
  return entry(__func__, [&] {
    return add({out, graph, dependencies, count},
               [&](Operation& made) { return operation_of_event<EventWait>(event, made); });
  });
}

CUresult CUDAAPI cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* out) {
  return entry(__func__, [&] {
    return out == nullptr ? fail(CUDA_ERROR_INVALID_VALUE, "the pointer for the parameters is null")
                          : give_launch(node, *out);
  });
}
CUresult CUDAAPI cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1* out) {
  return entry(__func__, [&] {
    return out == nullptr ? fail(CUDA_ERROR_INVALID_VALUE, "the pointer for the parameters is null")
                          : give_launch(node, *out);
  });
}
CUresult CUDAAPI cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* params) {
  return entry(__func__, [&] { return set_by(node, params); });
}
CUresult CUDAAPI cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return entry(__func__, [&] { return set_by(node, params); });
}
CUresult CUDAAPI cuGraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D* out) {
  return entry(__func__, [&] { return give_operation(node, out); });
}
CUresult CUDAAPI cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* params) {
  return entry(__func__, [&] { return set_by(node, params); });
}
CUresult CUDAAPI cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* out) {
  return entry(__func__, [&] { return give_operation(node, out); });
}
CUresult CUDAAPI cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* params) {
  return entry(__func__, [&] { return set_by(node, params); });
}
CUresult CUDAAPI cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                                   const CUDA_KERNEL_NODE_PARAMS* params) {
  return entry(__func__, [&] { return set_in_exec_by(exec, node, params); });
}
CUresult CUDAAPI cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                const CUDA_KERNEL_NODE_PARAMS_v1* params) {
  return entry(__func__, [&] { return set_in_exec_by(exec, node, params); });
}
CUresult CUDAAPI cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D* params,
                                                CUcontext) {
  return entry(__func__, [&] { return set_in_exec_by(exec, node, params); });
}
CUresult CUDAAPI cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                                const CUDA_MEMSET_NODE_PARAMS* params, CUcontext) {
  return entry(__func__, [&] { return set_in_exec_by(exec, node, params); });
}

}  // extern "C"
