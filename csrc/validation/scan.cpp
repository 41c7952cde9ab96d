#include "validation/scan.h"

#include "validation/scan_levels.h"

namespace tilegym::validation {
namespace {

bool offers(ScanLevel level) noexcept {
#if TILEGYM_SCAN_LEVELS
  if (level == ScanLevel::avx2) return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
  if (level == ScanLevel::avx512) {
    return offers(ScanLevel::avx2) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
  }
#endif
  return level == ScanLevel::plain;
}

ScanLevel& chosen() noexcept {
  static ScanLevel level = offers(ScanLevel::avx512) ? ScanLevel::avx512
                           : offers(ScanLevel::avx2) ? ScanLevel::avx2
                                                     : ScanLevel::plain;
  return level;
}

}  // namespace

ScanFn find_scan(ElementType actual, ElementType expected) noexcept {
#if TILEGYM_SCAN_LEVELS
  if (chosen() == ScanLevel::avx512) return avx512::find_scan(actual, expected);
  if (chosen() == ScanLevel::avx2) return avx2::find_scan(actual, expected);
#endif
  return plain::find_scan(actual, expected);
}

ScanLevel scan_level() noexcept {
  return chosen();
}

bool set_scan_level(ScanLevel level) noexcept {
  if (!offers(level)) return false;
  chosen() = level;
  return true;
}

}  // namespace tilegym::validation
