#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "cpu_driver/api/driver_test.h"

namespace tilegym::cpu::test {
namespace {

class StreamTest : public DriverTest {
 protected:
  CUstream make_stream(unsigned flags = CU_STREAM_DEFAULT) {
    CUstream stream = nullptr;
    EXPECT_EQ(cuStreamCreate(&stream, flags), CUDA_SUCCESS);
    return stream;
  }
  CUevent make_event() {
    CUevent event = nullptr;
    EXPECT_EQ(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
    return event;
  }
  /// Holds a stream until the gate opens.
  void hold(CUstream stream, const Gate& gate) {
    ASSERT_EQ(launch(make_function([&gate](auto, auto, const auto&) { return gate.wait(), LaunchResult{}; }), stream),
              CUDA_SUCCESS);
  }
  /// Launches a kernel that appends to `log_`.
  void mark(CUstream stream, int number) {
    ASSERT_EQ(launch(make_function([this, number](auto, auto, const auto&) {
                       log_.push_back(number);
                       return LaunchResult{};
                     }),
                     stream),
              CUDA_SUCCESS);
  }

  std::vector<int> log_;
};

TEST_F(StreamTest, RunsInOrder) {
  const CUstream stream = make_stream();
  for (int i = 0; i < 20; ++i) mark(stream, i);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  std::vector<int> expected(20);
  for (int i = 0; i < 20; ++i) expected[static_cast<std::size_t>(i)] = i;
  EXPECT_EQ(log_, expected);
}

TEST_F(StreamTest, LaunchReturnsBeforeTheKernelEnds) {
  const CUstream stream = make_stream();
  Gate gate;
  hold(stream, gate);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  gate.open();
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_SUCCESS);
}

TEST_F(StreamTest, TwoStreamsRunAtOnce) {
  const CUstream first = make_stream();
  const CUstream second = make_stream();
  Gate gate;
  hold(first, gate);
  launch(make_function([&](auto, auto, const auto&) { return gate.open(), LaunchResult{}; }), second);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST_F(StreamTest, EventOrdersTwoStreams) {
  const CUstream first = make_stream();
  const CUstream second = make_stream();
  const CUevent event = make_event();
  Gate gate;
  hold(first, gate);
  mark(first, 1);
  ASSERT_EQ(cuEventRecord(event, first), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitEvent(second, event, 0), CUDA_SUCCESS);
  mark(second, 2);
  gate.open();
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(log_, (std::vector{1, 2}));
}

TEST_F(StreamTest, WaitTakesTheRecordingAtTheTimeOfTheCall) {
  const CUstream first = make_stream();
  const CUstream second = make_stream();
  const CUevent event = make_event();
  Gate gate;
  ASSERT_EQ(cuEventRecord(event, first), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(first), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitEvent(second, event, 0), CUDA_SUCCESS);
  hold(first, gate);
  ASSERT_EQ(cuEventRecord(event, first), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(second), CUDA_SUCCESS);
  gate.open();
  EXPECT_EQ(cuStreamSynchronize(first), CUDA_SUCCESS);
}

TEST_F(StreamTest, WaitForAnEventNeverRecordedDoesNothing) {
  const CUstream stream = make_stream();
  ASSERT_EQ(cuStreamWaitEvent(stream, make_event(), 0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
}

TEST_F(StreamTest, DefaultStreamWaitsForBlockingStreams) {
  const CUstream stream = make_stream();
  Gate gate;
  hold(stream, gate);
  mark(stream, 1);
  const CUstream helper = make_stream(CU_STREAM_NON_BLOCKING);
  launch(make_function([&](auto, auto, const auto&) { return gate.open(), LaunchResult{}; }), helper);
  mark(nullptr, 2);
  EXPECT_EQ(log_, (std::vector{1, 2}));
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST_F(StreamTest, DefaultStreamDoesNotWaitForNonBlockingStreams) {
  const CUstream stream = make_stream(CU_STREAM_NON_BLOCKING);
  Gate gate;
  hold(stream, gate);
  mark(nullptr, 1);
  EXPECT_EQ(log_, std::vector{1});
  EXPECT_EQ(cuStreamQuery(nullptr), CUDA_SUCCESS);
  gate.open();
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
}

TEST_F(StreamTest, LegacyStreamWaitsForTheThreadsOwn) {
  mark(CU_STREAM_PER_THREAD, 1);
  mark(CU_STREAM_LEGACY, 2);
  EXPECT_EQ(log_, (std::vector{1, 2}));
}

TEST_F(StreamTest, ThreadsOwnStreamWaitsForNoOtherStream) {
  const CUstream other = make_stream();
  Gate gate;
  hold(other, gate);
  mark(CU_STREAM_PER_THREAD, 1);
  EXPECT_EQ(cuStreamSynchronize(CU_STREAM_PER_THREAD), CUDA_SUCCESS);
  EXPECT_EQ(log_, std::vector{1});
  gate.open();
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST_F(StreamTest, PerThreadVariantTakesStreamZeroForTheThreadsOwn) {
  unsigned long long legacy = 0;
  unsigned long long own = 0;
  unsigned long long named = 0;
  EXPECT_EQ(cuStreamGetId(nullptr, &legacy), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamGetId_ptsz(nullptr, &own), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamGetId(CU_STREAM_PER_THREAD, &named), CUDA_SUCCESS);
  EXPECT_EQ(own, named);
  EXPECT_NE(own, legacy);
}

TEST_F(StreamTest, EveryThreadHasItsOwnStream) {
  const auto own_id = [] {
    unsigned long long id = 0;
    EXPECT_EQ(cuStreamGetId(CU_STREAM_PER_THREAD, &id), CUDA_SUCCESS);
    return id;
  };
  unsigned long long other = 0;
  std::thread([&] {
    ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
    other = own_id();
  }).join();
  EXPECT_NE(own_id(), other);
}

TEST_F(StreamTest, CopyBetweenDeviceAddressesDoesNotWait) {
  const CUstream stream = make_stream();
  int from = 7;
  int to = 0;
  Gate gate;
  hold(stream, gate);
  EXPECT_EQ(cuMemcpyDtoDAsync_v2(reinterpret_cast<CUdeviceptr>(&to), reinterpret_cast<CUdeviceptr>(&from), 4, stream),
            CUDA_SUCCESS);
  gate.open();
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(to, 7);
}

TEST_F(StreamTest, HostFunctionRunsInOrder) {
  const CUstream stream = make_stream();
  Gate gate;
  hold(stream, gate);
  std::atomic<int> calls = 0;
  ASSERT_EQ(
      cuLaunchHostFunc(stream, [](void* data) { ++*static_cast<std::atomic<int>*>(data); }, &calls), CUDA_SUCCESS);
  EXPECT_EQ(calls, 0);
  gate.open();
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(calls, 1);
}

TEST_F(StreamTest, HostFunctionThatSynchronisesIsRefusedNotStuck) {
  const CUstream stream = make_stream();
  std::atomic<int> result = -1;
  struct Data {
    CUcontext context;
    CUstream stream;
    std::atomic<int>* result;
  } data{context_, stream, &result};
  const CUhostFn function = [](void* raw) {
    const Data& d = *static_cast<Data*>(raw);
    cuCtxSetCurrent(d.context);
    *d.result = cuStreamSynchronize(d.stream);
  };
  ASSERT_EQ(cuLaunchHostFunc(stream, function, &data), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(result, CUDA_ERROR_NOT_PERMITTED);
}

TEST_F(StreamTest, DestroyLetsQueuedWorkFinish) {
  const CUstream stream = make_stream();
  Gate gate;
  hold(stream, gate);
  mark(stream, 1);
  EXPECT_EQ(cuStreamDestroy_v2(stream), CUDA_SUCCESS);
  gate.open();
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(log_, std::vector{1});
}

TEST_F(StreamTest, DestroyedStreamIsRefused) {
  const CUstream stream = make_stream();
  ASSERT_EQ(cuStreamDestroy_v2(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy_v2(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(launch(make_function(outcome(Outcome::ok)), stream), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(StreamTest, HandleOfADestroyedStreamIsNotReused) {
  const CUstream first = make_stream();
  ASSERT_EQ(cuStreamDestroy_v2(first), CUDA_SUCCESS);
  const CUstream second = make_stream();
  EXPECT_NE(first, second);
  EXPECT_EQ(cuStreamQuery(first), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(StreamTest, FailureIsReportedByTheNextSynchroniseWithItsText) {
  const CUstream stream = make_stream();
  ASSERT_EQ(launch(make_function(outcome(Outcome::illegal_address, "load: outside x")), stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(last_report(), "load: outside x");
}

TEST_F(StreamTest, FailureStopsTheContextUntilItIsReset) {
  Gate gate;
  const CUstream stream = make_stream();
  hold(stream, gate);
  launch(make_function(outcome(Outcome::assertion, "a < b")), stream);
  mark(stream, 1);
  gate.open();
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ASSERT);
  EXPECT_EQ(launch(make_function(outcome(Outcome::ok))), CUDA_ERROR_ASSERT);
  EXPECT_EQ(last_report(), "a < b");
  EXPECT_TRUE(log_.empty());
  ASSERT_EQ(cuDevicePrimaryCtxReset_v2(0), CUDA_SUCCESS);
  mark(nullptr, 2);
  EXPECT_EQ(log_, std::vector{2});
}

TEST_F(StreamTest, EventBehindAFailureCompletes) {
  Gate gate;
  const CUstream stream = make_stream();
  const CUevent event = make_event();
  hold(stream, gate);
  launch(make_function(outcome(Outcome::unsupported, "op")), stream);
  ASSERT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
  gate.open();
  EXPECT_EQ(cuEventSynchronize(event), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(StreamTest, CancellationIsReportedOnceAndTheContextGoesOn) {
  const CUstream stream = make_stream();
  launch(make_function(outcome(Outcome::cancelled, "kernel k")), stream);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_EQ(last_report(), "cancelled: kernel k");
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  mark(stream, 1);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(log_, std::vector{1});
}

TEST_F(StreamTest, UnknownFlagsAreRefused) {
  CUstream stream = nullptr;
  EXPECT_EQ(cuStreamCreate(&stream, 0x80), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(StreamTest, QueriesDescribeTheStream) {
  const CUstream stream = make_stream(CU_STREAM_NON_BLOCKING);
  unsigned flags = 0;
  CUcontext context = nullptr;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  EXPECT_EQ(cuStreamGetFlags(stream, &flags), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamGetCtx(stream, &context), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamIsCapturing(stream, &status), CUDA_SUCCESS);
  EXPECT_EQ(flags, static_cast<unsigned>(CU_STREAM_NON_BLOCKING));
  EXPECT_EQ(context, context_);
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
}

}  // namespace
}  // namespace tilegym::cpu::test
