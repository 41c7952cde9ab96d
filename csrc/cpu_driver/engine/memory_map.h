#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilegym::cpu {

/// One accessible span. Names live as long as the launch.
struct MemoryRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;  ///< exclusive
  std::string_view name;
};

/// The ranges one launch may touch. A lookup is a linear scan from the last hit: launches have few ranges, and the check
/// is made once per strip, not per element.
class MemoryMap {
 public:
  explicit MemoryMap(std::span<const MemoryRange> ranges) : ranges_(ranges.begin(), ranges.end()) {}

  /// Whether every byte of [begin, end) lies in one range. Empty spans are always inside.
  [[nodiscard]] bool contains(std::uintptr_t begin, std::uintptr_t end) const noexcept {
    if (begin >= end) return begin == end;
    for (const MemoryRange& range : ranges_) {
      if (begin >= range.begin && end <= range.end) return true;
    }
    return false;
  }
  /// Text for a report: the argument nearest to `address`, the range and how far outside it lies.
  [[nodiscard]] std::string describe(std::uintptr_t address) const;

 private:
  std::vector<MemoryRange> ranges_;
};

}  // namespace tilegym::cpu
