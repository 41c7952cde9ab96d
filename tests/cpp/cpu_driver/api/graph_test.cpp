#include <array>
#include <cstring>
#include <vector>

#include "cpu_driver/api/driver_test.h"

namespace tilegym::cpu::test {
namespace {

using Nodes = std::vector<CUgraphNode>;

class GraphTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_EQ(cuGraphCreate(&graph_, 0), CUDA_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(cuGraphDestroy(graph_), CUDA_SUCCESS);
    DriverTest::TearDown();
  }

  /// A node whose kernel appends its argument to `log_`.
  CUgraphNode mark(int number, const Nodes& after = {}) {
    CUDA_KERNEL_NODE_PARAMS params = kernel(number);
    CUgraphNode node = nullptr;
    EXPECT_EQ(cuGraphAddKernelNode_v2(&node, graph_, after.data(), after.size(), &params), CUDA_SUCCESS);
    return node;
  }
  CUDA_KERNEL_NODE_PARAMS kernel(int number) {
    static std::array<int, 100> numbers{};
    static thread_local std::array<void*, 1> arguments{};
    numbers[static_cast<std::size_t>(number)] = number;
    arguments[0] = &numbers[static_cast<std::size_t>(number)];
    CUDA_KERNEL_NODE_PARAMS params{};
    params.func = marker_;
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = arguments.data();
    return params;
  }
  CUgraphExec instantiate() {
    CUgraphExec exec = nullptr;
    EXPECT_EQ(cuGraphInstantiateWithFlags(&exec, graph_, 0), CUDA_SUCCESS);
    return exec;
  }
  /// Instantiates and runs once on a stream of its own.
  void run() {
    const CUgraphExec exec = instantiate();
    CUstream stream = nullptr;
    ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamDestroy_v2(stream), CUDA_SUCCESS);
  }

  CUgraph graph_ = nullptr;
  std::vector<int> log_;
  CUfunction marker_ = make_function(
      [this](Grid, std::span<const void* const> arguments, const LaunchOptions&) {
        log_.push_back(*static_cast<const int*>(arguments[0]));
        return LaunchResult{};
      },
      {{4, false}});
};

TEST_F(GraphTest, NodesRunAfterTheirDependencies) {
  const CUgraphNode first = mark(1);
  const CUgraphNode third = mark(3);
  const CUgraphNode second = mark(2, {first});
  ASSERT_EQ(cuGraphAddDependencies(graph_, &second, &third, 1), CUDA_SUCCESS);
  run();
  EXPECT_EQ(log_, (std::vector{1, 2, 3}));
}

TEST_F(GraphTest, ArgumentsAreThoseOfTheCall) {
  CUgraphNode node = mark(4);
  run();
  run();
  EXPECT_EQ(log_, (std::vector{4, 4}));
  CUDA_KERNEL_NODE_PARAMS told{};
  ASSERT_EQ(cuGraphKernelNodeGetParams_v2(node, &told), CUDA_SUCCESS);
  EXPECT_EQ(told.func, marker_);
  EXPECT_EQ(*static_cast<int*>(told.kernelParams[0]), 4);
}

TEST_F(GraphTest, ExecutableGraphIsApartFromItsGraph) {
  const CUgraphNode node = mark(1);
  const CUgraphExec exec = instantiate();
  CUDA_KERNEL_NODE_PARAMS other = kernel(2);
  ASSERT_EQ(cuGraphKernelNodeSetParams_v2(node, &other), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(log_, std::vector{1});
  other = kernel(3);
  ASSERT_EQ(cuGraphExecKernelNodeSetParams_v2(exec, node, &other), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(log_, (std::vector{1, 3}));
  CUgraphExecUpdateResultInfo info{};
  ASSERT_EQ(cuGraphExecUpdate_v2(exec, graph_, &info), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphLaunch(exec, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(log_, (std::vector{1, 3, 2}));
  mark(5);
  EXPECT_EQ(cuGraphExecUpdate_v2(exec, graph_, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
}

TEST_F(GraphTest, CopyFillHostAndEmptyNodesDoTheirWork) {
  std::array<unsigned char, 8> from{1, 2, 3, 4, 5, 6, 7, 8};
  std::array<unsigned char, 8> to{};
  int calls = 0;
  CUDA_MEMSET_NODE_PARAMS fill{reinterpret_cast<CUdeviceptr>(to.data()), 0, 0x55, 1, 8, 1};
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = from.data();
  copy.dstHost = to.data();
  copy.WidthInBytes = 3;
  copy.Height = copy.Depth = 1;
  const CUDA_HOST_NODE_PARAMS host{[](void* data) { ++*static_cast<int*>(data); }, &calls};
  std::array<CUgraphNode, 4> nodes{};
  ASSERT_EQ(cuGraphAddMemsetNode(&nodes[0], graph_, nullptr, 0, &fill, context_), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddMemcpyNode(&nodes[1], graph_, &nodes[0], 1, &copy, context_), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddEmptyNode(&nodes[2], graph_, &nodes[1], 1), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddHostNode(&nodes[3], graph_, &nodes[2], 1, &host), CUDA_SUCCESS);
  run();
  EXPECT_EQ(to, (std::array<unsigned char, 8>{1, 2, 3, 0x55, 0x55, 0x55, 0x55, 0x55}));
  EXPECT_EQ(calls, 1);
}

TEST_F(GraphTest, MemoryOfAGraphLivesAsLongAsItsNodesRun) {
  CUDA_MEM_ALLOC_NODE_PARAMS alloc{};
  alloc.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  alloc.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  alloc.bytesize = 64;
  std::array<CUgraphNode, 3> nodes{};
  ASSERT_EQ(cuGraphAddMemAllocNode(&nodes[0], graph_, nullptr, 0, &alloc), CUDA_SUCCESS);
  const CUDA_MEMSET_NODE_PARAMS fill{alloc.dptr, 0, 7, 4, 16, 1};
  ASSERT_EQ(cuGraphAddMemsetNode(&nodes[1], graph_, &nodes[0], 1, &fill, context_), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddMemFreeNode(&nodes[2], graph_, &nodes[1], 1, alloc.dptr), CUDA_SUCCESS);
  run();
  EXPECT_EQ(*reinterpret_cast<unsigned*>(alloc.dptr), 7U);
  CUgraphNode wrong = nullptr;
  EXPECT_EQ(cuGraphAddMemFreeNode(&wrong, graph_, nullptr, 0, 0x1000), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(GraphTest, EventNodesRecordAndWait) {
  CUevent first = nullptr;
  CUevent second = nullptr;
  ASSERT_EQ(cuEventCreate(&first, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&second, 0), CUDA_SUCCESS);
  std::array<CUgraphNode, 3> nodes{};
  ASSERT_EQ(cuGraphAddEventRecordNode(&nodes[0], graph_, nullptr, 0, first), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddEventWaitNode(&nodes[1], graph_, &nodes[0], 1, first), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddEventRecordNode(&nodes[2], graph_, &nodes[1], 1, second), CUDA_SUCCESS);
  run();
  float milliseconds = -1;
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, first, second), CUDA_SUCCESS);
  EXPECT_GE(milliseconds, 0);
  cuEventDestroy_v2(first);
  cuEventDestroy_v2(second);
}

TEST_F(GraphTest, ChildGraphIsACopyInItsPlace) {
  CUgraph child = nullptr;
  ASSERT_EQ(cuGraphCreate(&child, 0), CUDA_SUCCESS);
  std::swap(child, graph_);
  mark(2);
  std::swap(child, graph_);
  CUgraphNode inner = nullptr;
  const CUgraphNode first = mark(1);
  ASSERT_EQ(cuGraphAddChildGraphNode(&inner, graph_, &first, 1, child), CUDA_SUCCESS);
  mark(3, {inner});
  EXPECT_EQ(cuGraphDestroy(child), CUDA_SUCCESS);
  run();
  EXPECT_EQ(log_, (std::vector{1, 2, 3}));
  CUgraph copy = nullptr;
  std::size_t count = 0;
  EXPECT_EQ(cuGraphChildGraphNodeGetGraph(inner, &copy), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphGetNodes(copy, nullptr, &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 1U);
}

TEST_F(GraphTest, CloneHasNodesOfItsOwn) {
  const CUgraphNode first = mark(1);
  mark(2, {first});
  CUgraph clone = nullptr;
  CUgraphNode twin = nullptr;
  ASSERT_EQ(cuGraphClone(&clone, graph_), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphNodeFindInClone(&twin, first, clone), CUDA_SUCCESS);
  EXPECT_NE(twin, first);
  EXPECT_EQ(cuGraphDestroyNode(first), CUDA_SUCCESS);
  std::swap(clone, graph_);
  run();
  std::swap(clone, graph_);
  EXPECT_EQ(log_, (std::vector{1, 2}));
  EXPECT_EQ(cuGraphDestroy(clone), CUDA_SUCCESS);
}

TEST_F(GraphTest, ShapeCanBeAskedFor) {
  const CUgraphNode first = mark(1);
  const CUgraphNode second = mark(2, {first});
  std::array<CUgraphNode, 3> nodes{};
  std::size_t count = nodes.size();
  EXPECT_EQ(cuGraphGetNodes(graph_, nodes.data(), &count), CUDA_SUCCESS);
  EXPECT_EQ(count, 2U);
  EXPECT_EQ(nodes, (std::array<CUgraphNode, 3>{first, second, nullptr}));
  count = 1;
  EXPECT_EQ(cuGraphGetRootNodes(graph_, nodes.data(), &count), CUDA_SUCCESS);
  EXPECT_EQ(nodes[0], first);
  count = 1;
  EXPECT_EQ(cuGraphNodeGetDependencies(second, nodes.data(), &count), CUDA_SUCCESS);
  EXPECT_EQ(nodes[0], first);
  count = 1;
  EXPECT_EQ(cuGraphNodeGetDependentNodes(first, nodes.data(), &count), CUDA_SUCCESS);
  EXPECT_EQ(nodes[0], second);
  std::array<CUgraphNode, 1> to{};
  count = 1;
  EXPECT_EQ(cuGraphGetEdges(graph_, nodes.data(), to.data(), &count), CUDA_SUCCESS);
  EXPECT_EQ(nodes[0], first);
  EXPECT_EQ(to[0], second);
  CUgraphNodeType type{};
  EXPECT_EQ(cuGraphNodeGetType(first, &type), CUDA_SUCCESS);
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_KERNEL);
}

TEST_F(GraphTest, CycleIsRefused) {
  const CUgraphNode first = mark(1);
  const CUgraphNode second = mark(2, {first});
  ASSERT_EQ(cuGraphAddDependencies(graph_, &second, &first, 1), CUDA_SUCCESS);
  CUgraphExec exec = nullptr;
  EXPECT_EQ(cuGraphInstantiateWithFlags(&exec, graph_, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(last_report(), "cuGraphInstantiateWithFlags: the edges of the graph form a cycle");
}

TEST_F(GraphTest, LongChainsAreNoBurdenOnTheStack) {
  CUgraphNode last = mark(1);
  for (int i = 0; i < 20'000; ++i) {
    CUgraphNode next = nullptr;
    ASSERT_EQ(cuGraphAddEmptyNode(&next, graph_, &last, 1), CUDA_SUCCESS);
    last = next;
  }
  run();
  EXPECT_EQ(log_, std::vector{1});
}

TEST_F(GraphTest, FailureEndsTheRunAndFreesItsWaiters) {
  CUevent event = nullptr;
  ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
  CUDA_KERNEL_NODE_PARAMS params{};
  params.func = make_function(outcome(Outcome::assertion, "kernel k: why"));
  params.gridDimX = params.gridDimY = params.gridDimZ = 1;
  params.blockDimX = params.blockDimY = params.blockDimZ = 1;
  CUgraphNode bad = nullptr;
  CUgraphNode record = nullptr;
  ASSERT_EQ(cuGraphAddKernelNode_v2(&bad, graph_, nullptr, 0, &params), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddEventRecordNode(&record, graph_, &bad, 1, event), CUDA_SUCCESS);
  const CUgraphExec exec = instantiate();
  EXPECT_EQ(cuGraphLaunch(exec, nullptr), CUDA_ERROR_ASSERT);
  EXPECT_EQ(last_report(), "kernel k: why");
  EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
  EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
}

TEST_F(GraphTest, DeadHandlesAreRefused) {
  const CUgraphNode node = mark(1);
  CUgraphNode out = nullptr;
  CUgraphExec exec = nullptr;
  ASSERT_EQ(cuGraphDestroyNode(node), CUDA_SUCCESS);
  CUgraphNodeType type{};
  EXPECT_EQ(cuGraphNodeGetType(node, &type), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphAddEmptyNode(&out, graph_, &node, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphAddEmptyNode(&out, nullptr, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphInstantiateWithFlags(&exec, reinterpret_cast<CUgraph>(context_), 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuGraphLaunch(nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  CUDA_MEMSET_NODE_PARAMS fill{};
  EXPECT_EQ(cuGraphMemsetNodeGetParams(mark(2), &fill), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace tilegym::cpu::test
