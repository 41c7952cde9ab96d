#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "cpu_driver/api/launch_schedule.h"
#include "cpu_driver/api/private_table.h"
#include "cpu_driver/api/report.h"
#include "cpu_driver/engine/memory_map.h"

namespace tilegym::cpu {

/// What set_launch_ranges() left for the thread's next launch. Reused launch after launch, so that its storage is.
class LaunchRanges {
 public:
  [[nodiscard]] static LaunchRanges& of_thread() noexcept;

  CUresult set(std::span<const RangeRow> rows, const char* op);
  void clear() noexcept { present_ = false; }

  /// Null where no ranges were set: every address is allowed.
  [[nodiscard]] const MemoryMap* memory() const noexcept { return present_ ? &map_ : nullptr; }
  [[nodiscard]] std::span<const MemoryRange> ranges() const noexcept { return ranges_; }
  /// Empty where no ranges were set.
  [[nodiscard]] const std::string& op() const noexcept { return present_ ? op_ : kNone; }

 private:
  static const std::string kNone;

  bool present_ = false;
  std::string op_;
  std::vector<MemoryRange> ranges_;
  MemoryMap map_;
};

/// Consumes what was set for the thread's next launch when the launch call ends, whatever it comes to.
class ConsumeSettings {
 public:
  ConsumeSettings() = default;
  ConsumeSettings(const ConsumeSettings&) = delete;
  ConsumeSettings& operator=(const ConsumeSettings&) = delete;
  ~ConsumeSettings() {
    LaunchRanges::of_thread().clear();
    clear_next_schedule();
  }
};

/// A copy that outlives the launch call, names included.
class OwnedRanges {
 public:
  explicit OwnedRanges(const LaunchRanges& source);
  OwnedRanges(const OwnedRanges&) = delete;
  OwnedRanges& operator=(const OwnedRanges&) = delete;

  [[nodiscard]] const MemoryMap* memory() const noexcept { return present_ ? &map_ : nullptr; }
  [[nodiscard]] const std::string& op() const noexcept { return op_; }

 private:
  bool present_;
  std::string op_;
  std::vector<std::string> names_;
  MemoryMap map_;
};

}  // namespace tilegym::cpu
