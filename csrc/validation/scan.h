#pragma once

#include <cstddef>
#include <cstdint>

#include "validation/element.h"
#include "validation/pair.h"

/// Strips of pairs, many lanes at once. A strip in which every pair is finite and matches, which is the rule, is done
/// with after its scan; any other one is judged pair by pair while it is in the cache.
namespace tilegym::validation {

/// Running maxima; a scan raises them.
struct Maxima {
  double absolute = 0;
  double relative = 0;
  double ulps = 0;
};

struct StripSums {
  double error = 0;
  std::int64_t signed_zeros = 0;
};

/// Scans `count` pairs. Returns whether all are finite and within the tolerance; otherwise nothing was changed.
using ScanFn = bool (*)(const void* actual, const void* expected, std::size_t count, const Tolerance& tolerance,
                        const UlpUnit& unit, Maxima& maxima, StripSums& sums) noexcept;

/// The scan that reads these types where they lie, or null where none does. There is one for two f64.
[[nodiscard]] ScanFn find_scan(ElementType actual, ElementType expected) noexcept;

/// Instruction sets with scans of their own, from the lowest.
enum class ScanLevel : std::uint8_t { plain, avx2, avx512 };
[[nodiscard]] ScanLevel scan_level() noexcept;
/// For tests; false where the processor lacks it.
bool set_scan_level(ScanLevel level) noexcept;

}  // namespace tilegym::validation
