#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "cpu_driver/api/context.h"

namespace tilegym::cpu {

/// One recording of an event: complete once the work before it is. Waiters and the recording stream share it, so it
/// outlives the event. Built on an atomic, not a mutex: a forked child can complete what its parent's workers left.
class EventRecord {
 public:
  /// Only the first completion counts.
  void complete() noexcept {
    if (done()) return;
    time_ = std::chrono::steady_clock::now();
    done_.store(true, std::memory_order_release);
    done_.notify_all();
  }
  [[nodiscard]] bool done() const noexcept { return done_.load(std::memory_order_acquire); }
  void wait() const noexcept { done_.wait(false, std::memory_order_acquire); }
  /// Precondition: done().
  [[nodiscard]] std::chrono::steady_clock::time_point time() const noexcept { return time_; }

 private:
  std::chrono::steady_clock::time_point time_;
  std::atomic<bool> done_{false};
};

struct Capture;
struct GraphNode;

struct Event {
  static constexpr std::uintptr_t kHandleKind = 3;

  Context* context = nullptr;
  bool timed = true;
  std::shared_ptr<EventRecord> latest;  ///< null until recorded; guarded by driver_lock()

  std::atomic<bool> captured{false};                 ///< whether the latest recording was in a capture
  std::shared_ptr<Capture> capture;                  ///< guarded by graph_lock()
  std::vector<std::shared_ptr<GraphNode>> frontier;  ///< what the recording comes after; guarded by graph_lock()
};

using EventTable = HandleTable<Event, CUevent>;
[[nodiscard]] EventTable& events() noexcept;

/// The event's latest recording (null where there is none), CUDA_ERROR_INVALID_HANDLE, or CUDA_ERROR_CAPTURED_EVENT.
CUresult latest_record(CUevent handle, std::shared_ptr<EventRecord>& record);

}  // namespace tilegym::cpu
