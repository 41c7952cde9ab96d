#pragma once

#include <atomic>
#include <string_view>

#include "cpu_driver/api/report.h"
#include "cpu_driver/api/targets.h"

/// Options and switches of the one CPU device.
namespace tilegym::cpu {

/// Sets an option by name: "threads" (0: as many as the threading layer has) or "target" (a name of kTargets).
CUresult configure(std::string_view name, std::string_view value);
/// Applies TILEGYM_RS_TARGET and TILEGYM_RS_THREADS where they are set.
CUresult configure_from_environment();

[[nodiscard]] const Target& current_target() noexcept;
[[nodiscard]] int thread_limit() noexcept;

/// The flag that running launches poll.
[[nodiscard]] std::atomic<bool>& cancel_flag() noexcept;

}  // namespace tilegym::cpu
