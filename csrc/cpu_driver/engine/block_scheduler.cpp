#include "cpu_driver/engine/block_scheduler.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>

#include "common/check.h"
#include "cpu_driver/engine/worker_team.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace tilegym::cpu {
namespace {

using Body = std::function<bool(int, std::uint64_t)>;

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

/// One loop: hands out chunks until none is left or a body failed.
class Loop {
 public:
  Loop(std::uint64_t blocks, std::uint64_t chunk, const Body& body) : blocks_(blocks), chunk_(chunk), body_(body) {}

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
  std::atomic<std::uint64_t> next_{0};
  std::atomic<bool> failed_{false};
};

bool run_serially(std::uint64_t blocks, const Body& body) noexcept {
  Loop loop(blocks, blocks, body);
  loop.work(0);
  return loop.ok();
}

int worker_count(std::uint64_t blocks, int threads) noexcept {
  if (blocks <= 1 || threads == 1 || in_forked_child() || in_worker_team()) return 1;
  const int wanted = std::min(threads > 0 ? threads : default_team_size(), max_workers());
  return static_cast<int>(std::min<std::uint64_t>(static_cast<std::uint64_t>(std::max(wanted, 1)), blocks));
}

}  // namespace

bool for_each_block(std::uint64_t blocks, int threads, const Body& body) {
  if (blocks == 0) return true;
  const int workers = worker_count(blocks, threads);
  if (workers == 1 || team_busy.exchange(true, std::memory_order_acquire)) return run_serially(blocks, body);
  const std::uint64_t chunks = kChunksPerWorker * static_cast<std::uint64_t>(workers);
  Loop loop(blocks, std::max<std::uint64_t>(1, blocks / chunks), body);
  run_worker_team(workers, [&loop](int worker) { loop.work(worker); });
  team_busy.store(false, std::memory_order_release);
  return loop.ok();
}

int max_workers() noexcept {
  static const int bound = std::max({default_team_size(), processor_count(), kLeastWorkers});
  return bound;
}

bool in_forked_child() noexcept {
  return forked.load(std::memory_order_relaxed);
}

}  // namespace tilegym::cpu
