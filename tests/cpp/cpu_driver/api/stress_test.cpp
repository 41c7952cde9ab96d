#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "cpu_driver/api/driver_test.h"
#include "cpu_driver/engine/block_scheduler.h"

namespace tilegym::cpu::test {
namespace {

constexpr int kThreads = 4;
constexpr int kRounds = 50;

class Stress : public DriverTest {};

/// A kernel (pointer) that adds 1 to an int with a parallel loop beside it.
CUfunction make_increment() {
  return make_function(
      [](Grid, std::span<const void* const> arguments, const LaunchOptions& options) {
        std::atomic<int> blocks = 0;
        for_each_block(16, options.threads, [&](int, std::uint64_t) { return ++blocks, true; });
        **static_cast<int* const*>(arguments[0]) += blocks == 16 ? 1 : 1000;
        return LaunchResult{};
      },
      {{8, true}});
}

/// Passes a counter from stream to stream through events.
void relay(CUcontext context, CUfunction function, int* counter) {
  ASSERT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
  std::array<CUstream, 3> streams{};
  for (CUstream& stream : streams) ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  CUevent event = nullptr;
  ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
  for (int round = 0; round < kRounds; ++round) {
    const CUstream stream = streams[static_cast<std::size_t>(round) % streams.size()];
    ASSERT_EQ(cuStreamWaitEvent(stream, event, 0), CUDA_SUCCESS);
    ASSERT_EQ(launch(function, stream, {static_cast<void*>(&counter)}), CUDA_SUCCESS);
    ASSERT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
  }
  ASSERT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
  EXPECT_EQ(*counter, kRounds);
  EXPECT_EQ(cuEventDestroy_v2(event), CUDA_SUCCESS);
  for (const CUstream stream : streams) EXPECT_EQ(cuStreamDestroy_v2(stream), CUDA_SUCCESS);
}

TEST_F(Stress, EventsChainLaunchesAcrossStreamsAndThreads) {
  const CUfunction function = make_increment();
  std::array<int, kThreads> counters{};
  std::vector<std::thread> threads;
  for (int& counter : counters) threads.emplace_back(relay, context_, function, &counter);
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Stress, DefaultStreamLaunchesFromManyThreads) {
  const CUfunction function = make_increment();
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
      int value = 0;
      int* counter = &value;
      for (int round = 0; round < kRounds; ++round) launch(function, nullptr, {static_cast<void*>(&counter)});
      EXPECT_EQ(value, kRounds);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Stress, SynchroniseWhileOthersSubmit) {
  const CUfunction function = make_function(outcome(Outcome::ok));
  std::atomic<bool> done = false;
  std::thread submitter([&] {
    ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
    CUstream stream = nullptr;
    ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
    for (int round = 0; round < 20 * kRounds; ++round) launch(function, stream);
    cuStreamDestroy_v2(stream);
    done = true;
  });
  while (!done) EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  submitter.join();
}

TEST_F(Stress, CreateAndDestroyStreamsFromManyThreads) {
  const CUfunction function = make_function(outcome(Outcome::ok));
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
      for (int round = 0; round < kRounds; ++round) {
        CUstream stream = nullptr;
        ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
        launch(function, stream);
        EXPECT_EQ(cuStreamDestroy_v2(stream), CUDA_SUCCESS);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

}  // namespace
}  // namespace tilegym::cpu::test
