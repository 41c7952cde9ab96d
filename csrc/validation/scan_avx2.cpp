#include "validation/scan_levels.h"

#if TILEGYM_SCAN_LEVELS
#pragma GCC target("avx2,f16c,popcnt")
namespace tilegym::validation::avx2 {
namespace {

#define TILEGYM_SCAN_INLINE [[gnu::always_inline]] inline

constexpr int kBytes = 32;
#include "validation/scan_vectors.inl"

template <class T>
TILEGYM_SCAN_INLINE int bits(Mask<T> mask) {
  if constexpr (sizeof(T) == 8)
    return _mm256_movemask_pd((__m256d)mask);
  else
    return _mm256_movemask_ps((__m256)mask);
}
template <class T>
TILEGYM_SCAN_INLINE Vec<T> larger(Vec<T> a, Vec<T> b) {
  if constexpr (sizeof(T) == 8)
    return _mm256_max_pd(a, b);
  else
    return _mm256_max_ps(a, b);
}
template <class T>
TILEGYM_SCAN_INLINE Vec<T> lesser(Vec<T> a, Vec<T> b) {
  if constexpr (sizeof(T) == 8)
    return _mm256_min_pd(a, b);
  else
    return _mm256_min_ps(a, b);
}
template <class T>
TILEGYM_SCAN_INLINE Vec<T> load(const Half* from) {
  if constexpr (sizeof(T) == 4)
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  else
    return _mm256_cvtps_pd(_mm_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
}

#include "validation/scan.inl"

}  // namespace

ScanFn find_scan(ElementType actual, ElementType expected) noexcept {
  return choose(actual, expected);
}

}  // namespace tilegym::validation::avx2
#endif
