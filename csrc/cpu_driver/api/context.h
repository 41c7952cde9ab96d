#pragma once

#include <atomic>
#include <cstdint>

#include "cpu_driver/api/handle_table.h"
#include "cpu_driver/api/report.h"

namespace tilegym::cpu {

/// A context of the CPU device. Its state is what asynchronous work left behind; everything else of a context (streams,
/// events, modules, allocations) refers to it and ends with it.
class Context {
 public:
  static constexpr std::uintptr_t kHandleKind = 1;

  Context(unsigned flags, bool primary) : flags_(flags), primary_(primary) {}

  [[nodiscard]] bool primary() const noexcept { return primary_; }
  [[nodiscard]] unsigned flags() const noexcept { return flags_.load(std::memory_order_relaxed); }
  void set_flags(unsigned flags) noexcept { flags_.store(flags, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  [[nodiscard]] CUcontext handle() const noexcept { return handle_; }

  /// Keeps the first failure of asynchronous work. As on a GPU it ends the context: later work is skipped and every
  /// call reports it. A cancellation is the exception, reported once by the next synchronisation.
  void record_failure(const Failure& failure) noexcept;
  /// The same for a caller that holds driver_lock().
  void record_failure_locked(const Failure& failure) noexcept;
  /// The lasting failure, reported to the calling thread, or CUDA_SUCCESS.
  [[nodiscard]] CUresult check() const noexcept;
  /// The same for a synchronising call, which also takes a cancellation.
  CUresult take_failure() noexcept;
  [[nodiscard]] bool failed() const noexcept { return failed_.load(std::memory_order_acquire); }
  void clear_failure() noexcept;

  /// Unfinished tasks on streams that the legacy default stream waits for.
  std::atomic<std::int64_t> blocking_tasks{0};
  /// Capturing streams among those.
  std::atomic<int> capturing_streams{0};

 private:
  friend CUcontext add_context(unsigned flags, bool primary);
  static std::uint64_t next_id() noexcept;

  CUcontext handle_ = nullptr;

  std::atomic<unsigned> flags_;
  const bool primary_;
  const std::uint64_t id_ = next_id();
  std::atomic<bool> failed_{false};
  std::atomic<bool> cancelled_{false};
  Failure failure_;       // guarded by driver_lock(); constant once failed_ is set
  Failure cancellation_;  // guarded by driver_lock()
};

using ContextTable = HandleTable<Context, CUcontext>;
[[nodiscard]] ContextTable& contexts() noexcept;
/// Makes a live context.
CUcontext add_context(unsigned flags, bool primary);

/// CUDA_ERROR_NOT_INITIALIZED before cuInit.
[[nodiscard]] CUresult check_initialized() noexcept;
/// CUDA_ERROR_INVALID_DEVICE for anything but the one device, 0.
[[nodiscard]] CUresult check_device(CUdevice device) noexcept;

/// Handle of the calling thread's current context, or null.
[[nodiscard]] CUcontext current_handle() noexcept;
/// The calling thread's current context, able to take work.
CUresult current_context(Context*& context) noexcept;

/// The primary context, kept alive for good from the first call on.
CUresult borrow_primary_context(CUcontext& out);

/// Waits for all work of the context.
void drain(const Context& context);
/// Waits for its work and ends the life of its streams, events, modules and allocations.
void end_resources(const Context& context);

}  // namespace tilegym::cpu
