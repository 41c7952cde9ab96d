#pragma once

#include <cstdint>

namespace tilegym::cpu {

/// Launches finished since load, failed ones included, and the time the engine spent in them.
struct LaunchTotals {
  std::uint64_t launches = 0;
  std::uint64_t nanoseconds = 0;
};
[[nodiscard]] LaunchTotals launch_totals() noexcept;

}  // namespace tilegym::cpu
