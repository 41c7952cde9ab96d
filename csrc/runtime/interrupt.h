#pragma once

namespace tilegym::runtime {

/// While one lives, SIGINT asks the CPU device to end its launches; the signal then reaches the handler that was there
/// before, so Python sees it as ever. Used by the main thread around a launch on the CPU device, one at a time.
///
/// Where SIGINT is ignored or ends the process, nothing is changed. The handler is put in place at first use and stays;
/// a guard made after somebody replaced it puts it back in front of the new one.
class InterruptGuard {
 public:
  using CancelFn = void (*)(int cancelled);

  /// `cancel` must be callable from a signal handler; a request left from earlier is cleared.
  explicit InterruptGuard(CancelFn cancel) noexcept;
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  CancelFn cancel_;
};

}  // namespace tilegym::runtime
