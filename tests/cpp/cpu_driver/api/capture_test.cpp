#include <array>
#include <thread>
#include <vector>

#include "cpu_driver/api/driver_test.h"

namespace tilegym::cpu::test {
namespace {

class Capture : public DriverTest {
 protected:
  CUstream make_stream(unsigned flags = CU_STREAM_NON_BLOCKING) {
    CUstream stream = nullptr;
    EXPECT_EQ(cuStreamCreate(&stream, flags), CUDA_SUCCESS);
    return stream;
  }
  CUevent make_event() {
    CUevent event = nullptr;
    EXPECT_EQ(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    return event;
  }
  void begin(CUstream stream, CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL) {
    ASSERT_EQ(cuStreamBeginCapture_v2(stream, mode), CUDA_SUCCESS);
  }
  CUgraph end(CUstream stream) {
    CUgraph graph = nullptr;
    EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_SUCCESS) << last_report();
    return graph;
  }
  CUresult fail_to_end(CUstream stream) {
    CUgraph graph = reinterpret_cast<CUgraph>(1);
    const CUresult code = cuStreamEndCapture(stream, &graph);
    EXPECT_EQ(graph, nullptr);
    return code;
  }
  void mark(CUstream stream, int number) {
    ASSERT_EQ(launch(make_function([this, number](auto, auto, const auto&) {
                       log_.push_back(number);
                       return LaunchResult{};
                     }),
                     stream),
              CUDA_SUCCESS);
  }
  void replay(CUgraph graph, CUstream stream, int times = 1) {
    CUgraphExec exec = nullptr;
    ASSERT_EQ(cuGraphInstantiateWithFlags(&exec, graph, 0), CUDA_SUCCESS);
    for (int i = 0; i < times; ++i) EXPECT_EQ(cuGraphLaunch(exec, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(cuGraphExecDestroy(exec), CUDA_SUCCESS);
  }
  CUstreamCaptureStatus status(CUstream stream) {
    CUstreamCaptureStatus found{};
    EXPECT_EQ(cuStreamIsCapturing(stream, &found), CUDA_SUCCESS);
    return found;
  }

  std::vector<int> log_;
};

TEST_F(Capture, RecordsAndReplays) {
  const CUstream stream = make_stream();
  begin(stream);
  EXPECT_EQ(status(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  mark(stream, 1);
  mark(stream, 2);
  const CUgraph graph = end(stream);
  EXPECT_EQ(status(stream), CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_TRUE(log_.empty());
  replay(graph, stream, 2);
  EXPECT_EQ(log_, (std::vector{1, 2, 1, 2}));
}

TEST_F(Capture, TakesCopiesFillsAndHostFunctions) {
  const CUstream stream = make_stream();
  std::array<int, 2> data{5, 0};
  const auto base = reinterpret_cast<CUdeviceptr>(data.data());
  begin(stream);
  EXPECT_EQ(cuMemcpyDtoDAsync_v2(base + 4, base, 4, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD32Async(base, 9, 1, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuLaunchHostFunc(stream, [](void* value) { ++*static_cast<int*>(value); }, data.data()), CUDA_SUCCESS);
  replay(end(stream), stream);
  EXPECT_EQ(data, (std::array{10, 5}));
}

TEST_F(Capture, MemoryOfTheStreamBecomesTheGraphs) {
  const CUstream stream = make_stream();
  CUdeviceptr memory = 0;
  unsigned seen = 0;
  begin(stream);
  ASSERT_EQ(cuMemAllocAsync(&memory, 4, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32Async(memory, 3, 1, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoHAsync_v2(&seen, memory, 4, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuMemFreeAsync(memory, stream), CUDA_SUCCESS);
  replay(end(stream), stream, 2);
  EXPECT_EQ(seen, 3U);
}

TEST_F(Capture, OtherStreamsJoinThroughEvents) {
  const CUstream stream = make_stream();
  const CUstream other = make_stream();
  const CUevent fork = make_event();
  const CUevent join = make_event();
  begin(stream);
  mark(stream, 1);
  ASSERT_EQ(cuEventRecord(fork, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitEvent(other, fork, 0), CUDA_SUCCESS);
  EXPECT_EQ(status(other), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  mark(other, 2);
  ASSERT_EQ(cuEventRecord(join, other), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitEvent(stream, join, 0), CUDA_SUCCESS);
  mark(stream, 3);
  replay(end(stream), stream);
  EXPECT_EQ(log_, (std::vector{1, 2, 3}));
  EXPECT_EQ(cuEventQuery(join), CUDA_ERROR_CAPTURED_EVENT);
  EXPECT_EQ(cuEventRecord(join, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuEventSynchronize(join), CUDA_SUCCESS);
}

TEST_F(Capture, StreamThatIsNotJoinedBackIsAnError) {
  const CUstream stream = make_stream();
  const CUstream other = make_stream();
  const CUevent fork = make_event();
  begin(stream);
  ASSERT_EQ(cuEventRecord(fork, stream), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitEvent(other, fork, 0), CUDA_SUCCESS);
  mark(other, 2);
  EXPECT_EQ(fail_to_end(stream), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  EXPECT_EQ(status(other), CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST_F(Capture, WaitingForACapturingStreamInvalidatesTheCapture) {
  const CUstream stream = make_stream();
  begin(stream);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(status(stream), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
  EXPECT_EQ(launch(make_function(outcome(Outcome::ok)), stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(fail_to_end(stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  mark(stream, 1);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(log_, std::vector{1});
}

TEST_F(Capture, AllocationIsForbiddenUnlessTheModeIsRelaxed) {
  const CUstream stream = make_stream();
  CUdeviceptr memory = 0;
  begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_EQ(cuMemAlloc_v2(&memory, 4), CUDA_SUCCESS);
  end(stream);
  begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
  std::thread([&] {
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    EXPECT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
    EXPECT_EQ(cuThreadExchangeStreamCaptureMode(&mode), CUDA_SUCCESS);
    EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
    EXPECT_EQ(cuMemFree_v2(memory), CUDA_SUCCESS);
  }).join();
  EXPECT_EQ(cuMemAlloc_v2(&memory, 4), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(fail_to_end(stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(Capture, LegacyStreamMustNotWaitForACapture) {
  const CUstream stream = make_stream(CU_STREAM_DEFAULT);
  begin(stream);
  EXPECT_EQ(launch(make_function(outcome(Outcome::ok)), nullptr), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  EXPECT_EQ(fail_to_end(stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(launch(make_function(outcome(Outcome::ok)), nullptr), CUDA_SUCCESS);
}

TEST_F(Capture, WrongEndsAreRefused) {
  const CUstream stream = make_stream();
  const CUstream other = make_stream();
  EXPECT_EQ(cuStreamBeginCapture_v2(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(fail_to_end(stream), CUDA_ERROR_ILLEGAL_STATE);
  begin(stream);
  EXPECT_EQ(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_ILLEGAL_STATE);
  std::thread([&] {
    EXPECT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
    EXPECT_EQ(fail_to_end(stream), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  }).join();
  const CUevent outside = make_event();
  ASSERT_EQ(cuEventRecord(outside, other), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitEvent(stream, outside, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  EXPECT_EQ(fail_to_end(stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

TEST_F(Capture, GoesIntoAnExistingGraph) {
  const CUstream stream = make_stream();
  CUgraph graph = nullptr;
  CUgraph ended = nullptr;
  CUgraphNode root = nullptr;
  ASSERT_EQ(cuGraphCreate(&graph, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuGraphAddEmptyNode(&root, graph, nullptr, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamBeginCaptureToGraph(stream, graph, &root, nullptr, 1, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  mark(stream, 1);
  const CUgraphNode* last = nullptr;
  CUstreamCaptureStatus found{};
  std::size_t count = 0;
  cuuint64_t id = 0;
  EXPECT_EQ(cuStreamGetCaptureInfo_v2(stream, &found, &id, &ended, &last, &count), CUDA_SUCCESS);
  EXPECT_EQ(ended, graph);
  EXPECT_EQ(count, 1U);
  EXPECT_NE(*last, root);
  EXPECT_EQ(cuStreamUpdateCaptureDependencies(stream, nullptr, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamEndCapture(stream, &ended), CUDA_SUCCESS);
  EXPECT_EQ(ended, graph);
  replay(graph, stream);
  EXPECT_EQ(log_, std::vector{1});
}

TEST_F(Capture, DestroyedStreamGivesItsCaptureUp) {
  const CUstream stream = make_stream(CU_STREAM_DEFAULT);
  begin(stream);
  EXPECT_EQ(cuStreamDestroy_v2(stream), CUDA_SUCCESS);
  EXPECT_EQ(launch(make_function(outcome(Outcome::ok)), nullptr), CUDA_SUCCESS);
}

TEST_F(Capture, EndsWithTheThreadWhoseStreamItIsOn) {
  std::thread([&] {
    EXPECT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
    begin(CU_STREAM_PER_THREAD);
  }).join();
  CUdeviceptr memory = 0;
  EXPECT_EQ(cuMemAlloc_v2(&memory, 4), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree_v2(memory), CUDA_SUCCESS);
}

TEST_F(Capture, ThreadsOwnStreamCaptures) {
  begin(CU_STREAM_PER_THREAD);
  mark(CU_STREAM_PER_THREAD, 1);
  replay(end(CU_STREAM_PER_THREAD), CU_STREAM_PER_THREAD);
  EXPECT_EQ(log_, std::vector{1});
}

TEST_F(Capture, LaunchOfAGraphBecomesAChild) {
  const CUstream stream = make_stream();
  begin(stream);
  mark(stream, 1);
  CUgraphExec inner = nullptr;
  ASSERT_EQ(cuGraphInstantiateWithFlags(&inner, end(stream), 0), CUDA_SUCCESS);
  begin(stream);
  EXPECT_EQ(cuGraphLaunch(inner, stream), CUDA_SUCCESS);
  mark(stream, 2);
  replay(end(stream), stream);
  EXPECT_EQ(log_, (std::vector{1, 2}));
}

}  // namespace
}  // namespace tilegym::cpu::test
