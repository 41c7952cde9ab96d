#include "validation/parallel.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>

#include "common/check.h"

#if defined(_OPENMP)
#include <omp.h>
#endif
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace tilegym::validation {
namespace {

std::atomic<bool> forked{false};
const bool registered = [] {
  TILEGYM_CHECK(pthread_atfork(nullptr, nullptr, [] { forked.store(true, std::memory_order_relaxed); }) == 0);
  return true;
}();

/// Threads inherit the control register from their creator, and programs change it (torch.set_flush_denormal).
class DefaultFloatingPoint {
 public:
#if defined(__SSE__)
  DefaultFloatingPoint() noexcept : saved_(_mm_getcsr()) { _mm_setcsr(0x1F80); }
  ~DefaultFloatingPoint() { _mm_setcsr(saved_); }

 private:
  unsigned saved_;
#else
  DefaultFloatingPoint() noexcept {}
#endif
  DefaultFloatingPoint(const DefaultFloatingPoint&) = delete;
  DefaultFloatingPoint& operator=(const DefaultFloatingPoint&) = delete;
};

}  // namespace

int worker_count(std::int64_t segments) noexcept {
#if defined(_OPENMP)
  if (segments <= 1 || forked.load(std::memory_order_relaxed) || omp_in_parallel() != 0) return 1;
  return static_cast<int>(std::min<std::int64_t>(segments, std::max(1, omp_get_max_threads())));
#else
  return 1;
#endif
}

void run_segments(std::int64_t segments, int workers, const std::function<void(int, std::int64_t)>& body) {
  std::atomic<std::int64_t> next{0};
  const auto work = [&](int worker) {
    const DefaultFloatingPoint environment;
    for (std::int64_t segment = next++; segment < segments; segment = next++) body(worker, segment);
  };
  if (workers == 1) return work(0);
#if defined(_OPENMP)
#pragma omp parallel num_threads(workers)
  work(omp_get_thread_num());
#endif
}

}  // namespace tilegym::validation
