#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>

namespace tilegym::cpu {

/// Runs `body(worker, block)` for every block in [0, blocks) on up to `threads` workers (0: as many as the threading
/// layer has; worker < max_workers()). Blocks are handed out dynamically in chunks; their order is not defined. A body
/// that returns false or throws ends the loop early: blocks not yet started are skipped. Returns whether all bodies ran
/// and returned true; no exception crosses. Bodies run with the default floating-point environment (round to nearest,
/// subnormals kept, exceptions masked), whatever the caller's is.
///
/// Runs serially on the calling thread, as worker 0, in a forked child, inside another parallel region, or while
/// another thread's loop is running.
bool for_each_block(std::uint64_t blocks, int threads,
                    const std::function<bool(int worker, std::uint64_t block)>& body);

/// What a block of one kernel took in its last loop. Any number of threads may use it at once.
class BlockPace {
 public:
  /// Waking workers costs up to 10 us, and a scheduler tick (milliseconds) where the cores are busy: a loop has to be
  /// longer than this to be worth it.
  static constexpr std::chrono::nanoseconds kSerialBudget = std::chrono::microseconds(20);

  explicit BlockPace(std::chrono::nanoseconds serial_budget = kSerialBudget) : serial_budget_(serial_budget) {}

  [[nodiscard]] std::chrono::nanoseconds serial_budget() const noexcept { return serial_budget_; }
  /// Whether one block alone is longer than the budget; false before the first loop.
  [[nodiscard]] bool has_long_blocks() const noexcept {
    return block_time_.load(std::memory_order_relaxed) > serial_budget_.count();
  }
  void record(std::chrono::nanoseconds thread_time, std::uint64_t blocks) noexcept {
    block_time_.store(thread_time.count() / static_cast<std::int64_t>(blocks), std::memory_order_relaxed);
  }

 private:
  const std::chrono::nanoseconds serial_budget_;
  std::atomic<std::int64_t> block_time_{0};
};

/// As above, but a loop of short blocks starts on the calling thread, as worker 0, and gets workers only when it has
/// run for the pace's budget: a small launch never waits for another thread.
bool for_each_block(std::uint64_t blocks, int threads, BlockPace& pace,
                    const std::function<bool(int worker, std::uint64_t block)>& body);

/// Upper bound of the worker index plus one, for per-worker storage. Constant for the life of the process.
[[nodiscard]] int max_workers() noexcept;

/// Whether the process is a forked child of the one that loaded the library: worker threads do not survive a fork.
[[nodiscard]] bool in_forked_child() noexcept;

}  // namespace tilegym::cpu
