#include "cpu_driver/engine/block_scheduler.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace tilegym::cpu {
namespace {

/// Number of times each block ran.
std::vector<int> visits(std::uint64_t blocks, int threads) {
  std::vector<std::atomic<int>> counts(blocks);
  EXPECT_TRUE(for_each_block(blocks, threads, [&](int, std::uint64_t block) {
    counts[block].fetch_add(1);
    return true;
  }));
  return {counts.begin(), counts.end()};
}

/// Workers that took part in a loop, by index.
std::set<int> workers(std::uint64_t blocks, int threads) {
  std::mutex mutex;
  std::set<int> seen;
  EXPECT_TRUE(for_each_block(blocks, threads, [&](int worker, std::uint64_t) {
    const std::scoped_lock lock(mutex);
    seen.insert(worker);
    return true;
  }));
  return seen;
}

/// Threads that ran a block of a loop whose first `alone` blocks are expected on the calling thread; the others meet at
/// a barrier in pairs, so that one thread cannot run them all.
std::set<std::thread::id> threads_of_paced_loop(BlockPace& pace, std::uint64_t alone) {
  std::mutex mutex;
  std::set<std::thread::id> seen;
  std::barrier<> pair(2);
  EXPECT_TRUE(for_each_block(alone + 2, 2, pace, [&](int, std::uint64_t block) {
    if (block >= alone) pair.arrive_and_wait();
    const std::scoped_lock lock(mutex);
    return seen.insert(std::this_thread::get_id()), true;
  }));
  return seen;
}

class BlockCounts : public testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(BlockCounts, EveryBlockRunsOnce) {
  const auto [blocks, threads] = GetParam();
  EXPECT_EQ(visits(blocks, threads), std::vector<int>(blocks, 1));
}

INSTANTIATE_TEST_SUITE_P(Scheduler, BlockCounts,
                         testing::Combine(testing::Values(0, 1, 2, 7, 64, 1000, 4099),
                                          testing::Values(0, 1, 2, 3, 16)));

TEST(BlockScheduler, ShortLoopStaysOnTheCallingThread) {
  BlockPace pace(std::chrono::hours(1));
  std::set<std::thread::id> ids;
  EXPECT_TRUE(
      for_each_block(100, 2, pace, [&](int, std::uint64_t) { return ids.insert(std::this_thread::get_id()), true; }));
  EXPECT_EQ(ids, std::set{std::this_thread::get_id()});
}

TEST(BlockScheduler, LoopPastItsBudgetGetsWorkers) {
  BlockPace pace(std::chrono::nanoseconds(0));
  EXPECT_EQ(threads_of_paced_loop(pace, 1).size(), 2);
}

TEST(BlockScheduler, LongBlocksGetWorkersAtOnce) {
  BlockPace pace(std::chrono::nanoseconds(10));
  pace.record(std::chrono::seconds(1), 1);
  EXPECT_EQ(threads_of_paced_loop(pace, 0).size(), 2);
}

TEST(BlockScheduler, PacedLoopRunsEveryBlockOnce) {
  BlockPace pace(std::chrono::nanoseconds(0));
  std::vector<std::atomic<int>> counts(1000);
  EXPECT_TRUE(for_each_block(1000, 3, pace, [&](int, std::uint64_t block) {
    counts[block].fetch_add(1);
    return true;
  }));
  EXPECT_EQ(std::vector<int>(counts.begin(), counts.end()), std::vector<int>(1000, 1));
}

TEST(BlockScheduler, PacedLoopEndsAtTheFirstFailure) {
  BlockPace pace;
  std::uint64_t ran = 0;
  EXPECT_FALSE(for_each_block(100, 2, pace, [&](int, std::uint64_t) { return ++ran, false; }));
  EXPECT_EQ(ran, 1);
}

TEST(BlockScheduler, OneThreadRunsOnTheCallingThread) {
  std::set<std::thread::id> ids;
  for_each_block(100, 1, [&](int, std::uint64_t) { return ids.insert(std::this_thread::get_id()), true; });
  EXPECT_EQ(ids, std::set{std::this_thread::get_id()});
}

TEST(BlockScheduler, TwoWorkersRunAtOnce) {
  std::barrier meet(2);
  EXPECT_TRUE(for_each_block(2, 2, [&](int, std::uint64_t) { return meet.arrive_and_wait(), true; }));
}

TEST(BlockScheduler, WorkerIndexStaysBelowBound) {
  EXPECT_LT(*workers(10'000, 1'000'000).rbegin(), max_workers());
}

TEST(BlockScheduler, NegativeThreadCountMeansDefault) {
  EXPECT_EQ(visits(50, -3), std::vector<int>(50, 1));
}

TEST(BlockScheduler, FalseSkipsBlocksNotYetStarted) {
  int ran = 0;
  EXPECT_FALSE(for_each_block(100, 1, [&](int, std::uint64_t block) { return ++ran, block != 4; }));
  EXPECT_EQ(ran, 5);
}

TEST(BlockScheduler, ExceptionBecomesFalse) {
  EXPECT_FALSE(for_each_block(8, 2, [](int, std::uint64_t) -> bool { throw std::runtime_error("fault"); }));
}

TEST(BlockScheduler, NextLoopRunsAfterAFailedOne) {
  EXPECT_FALSE(for_each_block(8, 2, [](int, std::uint64_t) { return false; }));
  EXPECT_EQ(visits(8, 2), std::vector<int>(8, 1));
}

TEST(BlockScheduler, NestedLoopRunsSeriallyOnItsThread) {
  std::atomic<bool> strayed = false;
  EXPECT_TRUE(for_each_block(4, 2, [&](int, std::uint64_t) {
    const auto outer = std::this_thread::get_id();
    return for_each_block(64, 2, [&](int worker, std::uint64_t) {
      if (worker != 0 || std::this_thread::get_id() != outer) strayed = true;
      return true;
    });
  }));
  EXPECT_FALSE(strayed);
}

TEST(BlockScheduler, LoopBesideARunningOneIsSerial) {
  std::barrier both(2);
  EXPECT_TRUE(for_each_block(2, 2, [&](int, std::uint64_t block) {
    both.arrive_and_wait();
    if (block == 0) {
      std::thread([] { EXPECT_EQ(workers(64, 2), std::set{0}); }).join();
    }
    both.arrive_and_wait();
    return true;
  }));
}

TEST(BlockScheduler, ForkedChildRunsSerially) {
  ASSERT_EQ(visits(64, 2).size(), 64U);
  const pid_t child = fork();
  if (child == 0) {
    std::uint64_t sum = 0;
    const bool ok = for_each_block(64, 2, [&](int, std::uint64_t block) { return sum += block, true; });
    _exit(ok && sum == 2016 && in_forked_child() ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_FALSE(in_forked_child());
}

#if defined(__SSE__)
TEST(BlockScheduler, BodiesKeepSubnormalsAndTheCallersFlushModeComesBack) {
  _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
  std::atomic<unsigned> seen = _MM_FLUSH_ZERO_ON;
  for_each_block(1, 1, [&](int, std::uint64_t) { return seen = _MM_GET_FLUSH_ZERO_MODE(), true; });
  const unsigned after = _MM_GET_FLUSH_ZERO_MODE();
  _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_OFF);
  EXPECT_EQ(seen, static_cast<unsigned>(_MM_FLUSH_ZERO_OFF));
  EXPECT_EQ(after, static_cast<unsigned>(_MM_FLUSH_ZERO_ON));
}
#endif

}  // namespace
}  // namespace tilegym::cpu
