#pragma once

#include <atomic>

namespace tilegym::runtime {

/// While one lives, SIGINT asks the launches of the main thread on the CPU device to end, and those of no other thread;
/// the signal then reaches the handler that was there before, so Python sees it as ever. Used by the main thread around
/// a launch on the CPU device, one at a time.
///
/// Where SIGINT is ignored or ends the process, nothing is changed. The handler is put in place at first use and stays;
/// a guard made after somebody replaced it puts it back in front of the new one.
class InterruptGuard {
 public:
  /// Makes the calling thread's launches poll a flag; null ends that. PrivateTable::watch_cancelled.
  using WatchFn = void (*)(const std::atomic<bool>* cancelled);

  explicit InterruptGuard(WatchFn watch) noexcept;
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  WatchFn watch_;
};

}  // namespace tilegym::runtime
