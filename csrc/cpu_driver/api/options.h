#pragma once

#include <atomic>
#include <string_view>

#include "cpu_driver/api/report.h"
#include "cpu_driver/api/targets.h"
#include "cpu_driver/engine/block_order.h"

/// Options and switches of the one CPU device.
namespace tilegym::cpu {

/// Sets an option by name: "threads" (0: as many as the threading layer has), "target" (a name of kTargets) or "order"
/// ("forward", "reversed", "shuffled:SEED").
CUresult configure(std::string_view name, std::string_view value);
/// Applies TILEGYM_RS_TARGET, TILEGYM_RS_THREADS and TILEGYM_RS_ORDER where they are set.
CUresult configure_from_environment();

[[nodiscard]] const Target& current_target() noexcept;
[[nodiscard]] int thread_limit() noexcept;
[[nodiscard]] BlockOrder block_order() noexcept;

/// The device's flag, which running launches poll.
[[nodiscard]] std::atomic<bool>& cancel_flag() noexcept;
/// The flag that a launch polls which runs within the calling thread's call: the thread's own, or the device's.
[[nodiscard]] const std::atomic<bool>& cancel_flag_of_thread() noexcept;
/// Gives the thread a flag of its own; null takes it away.
void watch_cancel_of_thread(const std::atomic<bool>* flag) noexcept;

}  // namespace tilegym::cpu
