#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/result.h"
#include "runtime/driver_binding.h"
#include "runtime/interrupt.h"

namespace tilegym::runtime {

/// One argument of a launch: its value in the first bytes of `bits`, little-endian, and for a pointer the bytes behind
/// it that the kernel may touch.
struct LaunchArgument {
  std::uint64_t bits = 0;
  bool is_pointer = false;
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::string name;  ///< in reports
};

struct LaunchSettings {
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  cpu::ScheduleRow schedule{};
};

/// Why a launch failed: the driver's error code and its text.
struct LaunchFailure {
  int code = 0;
  std::string text;
};

/// A Tile IR module loaded on the CPU device through the driver's library calls. Any number of threads may launch its
/// entries at once.
class TileProgram {
 public:
  /// Loads a whole module, raw bytecode or a wrapped image; the driver copies it.
  [[nodiscard]] static Result<TileProgram> load(const CpuDevice& device, std::span<const std::byte> image);

  /// Lowers an entry at its first use; the error names an operation that the device does not execute.
  [[nodiscard]] Status prepare(const std::string& entry) const;
  /// Runs the entry and returns when it is done. `extra` are further ranges that the kernel may touch. Precondition:
  /// one argument a parameter.
  [[nodiscard]] LaunchFailure launch(const std::string& entry, const LaunchSettings& settings,
                                     std::span<const LaunchArgument> arguments,
                                     std::span<const LaunchArgument> extra) const;

  /// Makes the calling thread's launches poll a flag of its own; see PrivateTable::watch_cancelled.
  [[nodiscard]] InterruptGuard::WatchFn watch_function() const noexcept;

 private:
  struct Calls;
  struct State;
  explicit TileProgram(std::shared_ptr<const State> state) : state_(std::move(state)) {}

  std::shared_ptr<const State> state_;
};

}  // namespace tilegym::runtime
