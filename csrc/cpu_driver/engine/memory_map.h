#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tilegym::cpu {

/// One accessible span of bytes. The name must outlive the map that holds it.
struct MemoryRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;  ///< exclusive
  std::string_view name;
};

/// The ranges one launch may touch. Lookups scan: launches have few ranges, and the check is made once per strip, not
/// per element. Reading from several threads is safe.
class MemoryMap {
 public:
  MemoryMap() = default;
  explicit MemoryMap(std::span<const MemoryRange> ranges) : ranges_(ranges.begin(), ranges.end()) {}

  /// Replaces the ranges and keeps the storage, for a map that is used for launch after launch.
  void assign(std::span<const MemoryRange> ranges) { ranges_.assign(ranges.begin(), ranges.end()); }

  void add(const MemoryRange& range) { ranges_.push_back(range); }
  /// Copies the ranges of another map and keeps the storage.
  void assign(const MemoryMap& other) { ranges_.assign(other.ranges_.begin(), other.ranges_.end()); }

  /// Whether every byte of [begin, end) lies in one range. Empty spans are always inside, reversed ones never.
  [[nodiscard]] bool contains(std::uintptr_t begin, std::uintptr_t end) const noexcept {
    if (begin >= end) return begin == end;
    for (const MemoryRange& range : ranges_) {
      if (begin >= range.begin && end <= range.end) return true;
    }
    return false;
  }

  /// Text for a report: the argument nearest to `address`, its size and how far outside it lies, in bytes and, where
  /// `element_bytes` is above 1, in elements counted from the argument's first byte.
  [[nodiscard]] std::string describe(std::uintptr_t address, std::size_t element_bytes = 1) const;

 private:
  std::vector<MemoryRange> ranges_;
};

}  // namespace tilegym::cpu
