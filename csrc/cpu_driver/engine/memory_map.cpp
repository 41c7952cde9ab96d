#include "cpu_driver/engine/memory_map.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace tilegym::cpu {
namespace {

/// Bytes between `address` and the nearest byte of `range`; 0 inside.
std::uintptr_t distance(const MemoryRange& range, std::uintptr_t address) noexcept {
  if (address < range.begin) return range.begin - address;
  return address < range.end ? 0 : address - range.end + 1;
}

std::string hexadecimal(std::uintptr_t address) {
  std::array<char, 2 + 2 * sizeof(address) + 1> text{};
  std::snprintf(text.data(), text.size(), "0x%llx", static_cast<unsigned long long>(address));
  return text.data();
}

/// Where `address` lies, seen from the range.
std::string position(const MemoryRange& range, std::uintptr_t address) {
  if (address < range.begin) return std::to_string(range.begin - address) + " bytes before the start";
  if (address < range.end) return "inside, at byte " + std::to_string(address - range.begin);
  if (address == range.end) return "directly behind the end";
  return std::to_string(address - range.end) + " bytes past the end";
}

/// ", element 12 of 10" for addresses at or after the first byte.
std::string element_text(const MemoryRange& range, std::uintptr_t address, std::size_t element_bytes) {
  if (element_bytes <= 1 || address < range.begin) return {};
  return ", element " + std::to_string((address - range.begin) / element_bytes) + " of " +
         std::to_string((range.end - range.begin) / element_bytes);
}

}  // namespace

std::string MemoryMap::describe(std::uintptr_t address, std::size_t element_bytes) const {
  if (ranges_.empty()) return "address " + hexadecimal(address) + ": the launch has no accessible memory";
  const auto nearest =
      std::min_element(ranges_.begin(), ranges_.end(), [address](const MemoryRange& left, const MemoryRange& right) {
        return distance(left, address) < distance(right, address);
      });
  return "address " + hexadecimal(address) + ", nearest to argument '" + std::string(nearest->name) + "' (" +
         std::to_string(nearest->end - nearest->begin) + " bytes): " + position(*nearest, address) +
         element_text(*nearest, address, element_bytes);
}

}  // namespace tilegym::cpu
