#include "runtime/interrupt.h"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>

namespace tilegym::runtime {
namespace {

// A query of the handler is a system call of about 0.3 us. Every few milliseconds is often enough: a launch long enough
// to be interrupted by hand makes the next one look again. The coarse clock moves every 1 to 10 ms and costs next to
// nothing to read.
std::int64_t coarse_milliseconds() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

/// What SIGINT did before us. The handler may run on another thread while a guard replaces it, hence atomics.
struct Disposition {
  std::atomic<void (*)(int)> plain = nullptr;
  std::atomic<void (*)(int, siginfo_t*, void*)> informed = nullptr;

  void store(const struct sigaction& action) noexcept {
    const bool with_info = (action.sa_flags & SA_SIGINFO) != 0;
    plain = with_info ? nullptr : action.sa_handler;
    informed = with_info ? action.sa_sigaction : nullptr;
  }
  void call(int signal, siginfo_t* info, void* context) const noexcept {
    if (const auto handler = informed.load()) return handler(signal, info, context);
    if (const auto handler = plain.load()) handler(signal);
  }
};

std::atomic<bool> guarding = false;
std::atomic<bool> cancelled = false;  // what the guarded launch polls
std::atomic<bool> in_handler = false;
Disposition first;     // found when our handler was first put in place
Disposition previous;  // found when it was last put in place

extern "C" void on_interrupt(int signal, siginfo_t* info, void* context) {
  if (guarding) cancelled = true;
  // A library that put its handler over ours and passes signals on would call us from itself: go on to what it covered.
  if (in_handler.exchange(true)) return first.call(signal, info, context);
  previous.call(signal, info, context);
  in_handler = false;
}

bool is_ours(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == on_interrupt;
}

bool has_handler(const struct sigaction& action) noexcept {
  return (action.sa_flags & SA_SIGINFO) != 0 || (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

/// Puts our handler in front of the present one, with that one's flags and mask: Python relies on interrupted system
/// calls returning EINTR.
void install() noexcept {
  struct sigaction action{};
  if (sigaction(SIGINT, nullptr, &action) != 0 || is_ours(action) || !has_handler(action)) return;
  static bool installed_before = false;
  if (!installed_before) first.store(action);
  installed_before = true;
  previous.store(action);
  action.sa_flags |= SA_SIGINFO;
  action.sa_sigaction = on_interrupt;
  sigaction(SIGINT, &action, nullptr);
}

void install_if_due() noexcept {
  static std::int64_t last_look = -1;  // main thread only
  const std::int64_t now = coarse_milliseconds();
  if (now == last_look) return;
  last_look = now;
  install();
}

}  // namespace

InterruptGuard::InterruptGuard(WatchFn watch) noexcept : watch_(watch) {
  install_if_due();
  cancelled.store(false, std::memory_order_relaxed);
  watch_(&cancelled);
  guarding.store(true, std::memory_order_release);
}

InterruptGuard::~InterruptGuard() {
  guarding.store(false, std::memory_order_release);
  watch_(nullptr);
}

}  // namespace tilegym::runtime
