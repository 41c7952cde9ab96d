#include "validation/scan_levels.h"

namespace tilegym::validation::plain {
namespace {

#define TILEGYM_SCAN_INLINE [[gnu::always_inline]] inline

constexpr int kBytes = 16;
#include "validation/scan_vectors.inl"

template <class T>
TILEGYM_SCAN_INLINE int bits(Mask<T> mask) {
  int result = 0;
  for (std::size_t lane = 0; lane < kBytes / sizeof(T); ++lane) result |= static_cast<int>(mask[lane] & 1) << lane;
  return result;
}
template <class T>
TILEGYM_SCAN_INLINE Vec<T> larger(Vec<T> a, Vec<T> b) {
  return a > b ? a : b;
}
template <class T>
TILEGYM_SCAN_INLINE Vec<T> lesser(Vec<T> a, Vec<T> b) {
  return a < b ? a : b;
}
template <class T>
TILEGYM_SCAN_INLINE Vec<T> load(const Half* from) {
  constexpr std::size_t kCount = kBytes / sizeof(T);
  double values[kCount];
  validation::load(ElementType::f16, reinterpret_cast<const std::byte*>(from), 1, kCount, values);
  Vec<T> v;
  for (std::size_t lane = 0; lane < kCount; ++lane) v[lane] = static_cast<T>(values[lane]);
  return v;
}

#include "validation/scan.inl"

}  // namespace

ScanFn find_scan(ElementType actual, ElementType expected) noexcept {
  return choose(actual, expected);
}

}  // namespace tilegym::validation::plain
