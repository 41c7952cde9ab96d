#include "cpu_driver/engine/block_scheduler.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <optional>

#include "common/check.h"
#include "cpu_driver/engine/worker_team.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace tilegym::cpu {
namespace {

using Body = std::function<bool(int, std::uint64_t)>;
using Clock = std::chrono::steady_clock;

/// Lets small machines run the tests of parallel loops with more workers than cores.
constexpr int kLeastWorkers = 16;
/// Small enough for balance at the end of a loop, large enough that handing out costs nothing: one block at a time
/// takes 22 ms for a million empty blocks, this takes 2.3 ms.
constexpr std::uint64_t kChunksPerWorker = 8;

std::atomic<bool> forked{false};
/// Each thread that opens a parallel region gets its own team, and two teams on the same cores slow both down.
std::atomic<bool> team_busy{false};

void enter_forked_child() {
  forked.store(true, std::memory_order_relaxed);
  team_busy.store(false, std::memory_order_relaxed);
}

const bool registered = [] {
  TILEGYM_CHECK(pthread_atfork(nullptr, nullptr, enter_forked_child) == 0);
  return true;
}();

/// Threads inherit the control register from their creator, and programs change it (torch.set_flush_denormal).
class DefaultFloatingPoint {
 public:
#if defined(__SSE__)
  DefaultFloatingPoint() noexcept : saved_(_mm_getcsr()) {
    if (saved_ != kDefault) _mm_setcsr(kDefault);
  }
  ~DefaultFloatingPoint() {
    if (_mm_getcsr() != saved_) _mm_setcsr(saved_);
  }

 private:
  static constexpr unsigned kDefault = 0x1F80;
  unsigned saved_;
#else
  DefaultFloatingPoint() noexcept {}
#endif
  DefaultFloatingPoint(const DefaultFloatingPoint&) = delete;
  DefaultFloatingPoint& operator=(const DefaultFloatingPoint&) = delete;
};

/// One loop over [first, blocks): hands out chunks until none is left or a body failed.
class Loop {
 public:
  Loop(std::uint64_t first, std::uint64_t blocks, std::uint64_t chunk, const Body& body)
      : blocks_(blocks), chunk_(chunk), body_(body), next_(first) {}

  void work(int worker) noexcept {
    const DefaultFloatingPoint environment;
    while (!failed_.load(std::memory_order_relaxed)) {
      const std::uint64_t begin = next_.fetch_add(chunk_, std::memory_order_relaxed);
      if (begin >= blocks_) return;
      run(worker, begin, begin + std::min(chunk_, blocks_ - begin));
    }
  }
  [[nodiscard]] bool ok() const noexcept { return !failed_.load(std::memory_order_relaxed); }

 private:
  void run(int worker, std::uint64_t begin, std::uint64_t end) noexcept try {
    for (std::uint64_t block = begin; block < end && ok(); ++block) {
      if (!body_(worker, block)) failed_.store(true, std::memory_order_relaxed);
    }
  } catch (...) {
    failed_.store(true, std::memory_order_relaxed);
  }

  const std::uint64_t blocks_;
  const std::uint64_t chunk_;
  const Body& body_;
  std::atomic<std::uint64_t> next_;
  std::atomic<bool> failed_{false};
};

bool run_serially(std::uint64_t first, std::uint64_t blocks, const Body& body) noexcept {
  Loop loop(first, blocks, blocks - first, body);
  loop.work(0);
  return loop.ok();
}

int worker_count(std::uint64_t blocks, int threads) noexcept {
  if (blocks <= 1 || threads == 1 || in_forked_child() || in_worker_team()) return 1;
  const int wanted = std::min(threads > 0 ? threads : default_team_size(), max_workers());
  return static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(std::max(wanted, 1)), blocks));
}

bool run_on_team(std::uint64_t first, std::uint64_t blocks, int workers, const Body& body) {
  if (team_busy.exchange(true, std::memory_order_acquire)) return run_serially(first, blocks, body);
  const std::uint64_t chunks = kChunksPerWorker * static_cast<std::uint64_t>(workers);
  Loop loop(first, blocks, std::max<std::uint64_t>(1, (blocks - first) / chunks), body);
  run_worker_team(workers, [&loop](int worker) { loop.work(worker); });
  team_busy.store(false, std::memory_order_release);
  return loop.ok();
}

/// Runs blocks on the calling thread until the time is up. Returns how many ran, or nothing when a body failed.
std::optional<std::uint64_t> run_for(std::chrono::nanoseconds budget, std::uint64_t blocks, const Body& body) noexcept {
  const auto end = Clock::now() + budget;
  std::uint64_t done = 0;
  do {
    if (!run_serially(done, done + 1, body)) return std::nullopt;
    ++done;
  } while (done < blocks && Clock::now() < end);
  return done;
}

}  // namespace

bool for_each_block(std::uint64_t blocks, int threads, const Body& body) {
  const int workers = worker_count(blocks, threads);
  if (blocks == 0) return true;
  return workers == 1 ? run_serially(0, blocks, body) : run_on_team(0, blocks, workers, body);
}

bool for_each_block(std::uint64_t blocks, int threads, BlockPace& pace, const Body& body) {
  const int workers = worker_count(blocks, threads);
  if (workers == 1) return for_each_block(blocks, 1, body);
  const auto start = Clock::now();
  std::uint64_t done = 0;
  if (!pace.has_long_blocks()) {
    const std::optional<std::uint64_t> alone = run_for(pace.serial_budget(), blocks, body);
    if (!alone) return false;
    done = *alone;
    pace.record(Clock::now() - start, done);
  }
  if (done == blocks) return true;
  if (!run_on_team(done, blocks, workers, body)) return false;
  if (done == 0) pace.record((Clock::now() - start) * workers, blocks);
  return true;
}

int max_workers() noexcept {
  static const int bound = std::max({default_team_size(), processor_count(), kLeastWorkers});
  return bound;
}

bool in_forked_child() noexcept {
  return forked.load(std::memory_order_relaxed);
}

}  // namespace tilegym::cpu
