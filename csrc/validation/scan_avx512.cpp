#include "validation/scan_levels.h"

#if TILEGYM_SCAN_LEVELS
#pragma GCC target("avx512f,avx512dq,avx512bw,avx512vl,avx2,f16c,popcnt")
namespace tilegym::validation::avx512 {
namespace {

#define TILEGYM_SCAN_INLINE [[gnu::always_inline]] inline

constexpr int kBytes = 64;
template <class T>
using Vec = Vector<T, kBytes>;
template <class T>
using Mask = std::conditional_t<sizeof(T) == 8, __mmask8, __mmask16>;

template <class T>
TILEGYM_SCAN_INLINE Mask<T> greater(Vec<T> a, Vec<T> b) {
  if constexpr (sizeof(T) == 8)
    return _mm512_cmp_pd_mask(a, b, _CMP_GT_OQ);
  else
    return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ);
}
template <class T>
TILEGYM_SCAN_INLINE Mask<T> less_or_equal(Vec<T> a, Vec<T> b) {
  if constexpr (sizeof(T) == 8)
    return _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ);
  else
    return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ);
}
template <class T>
TILEGYM_SCAN_INLINE Mask<T> signed_zeros(Vec<T> error, Vec<T> a, Vec<T> b) {
  if constexpr (sizeof(T) == 8) {
    return _mm512_mask_cmpneq_epi64_mask(_mm512_cmp_pd_mask(error, Vec<T>{}, _CMP_EQ_OQ), (__m512i)a, (__m512i)b);
  } else {
    return _mm512_mask_cmpneq_epi32_mask(_mm512_cmp_ps_mask(error, Vec<T>{}, _CMP_EQ_OQ), (__m512i)a, (__m512i)b);
  }
}
template <class T>
TILEGYM_SCAN_INLINE Mask<T> not_(Mask<T> mask) {
  return static_cast<Mask<T>>(~mask);
}
template <class T>
TILEGYM_SCAN_INLINE bool any(Mask<T> mask) {
  return mask != 0;
}
template <class T>
TILEGYM_SCAN_INLINE bool all(Mask<T> mask) {
  return mask == static_cast<Mask<T>>(~0U);
}
template <class T>
TILEGYM_SCAN_INLINE int count(Mask<T> mask) {
  return __builtin_popcount(mask);
}
template <class T>
TILEGYM_SCAN_INLINE Vec<T> larger(Vec<T> a, Vec<T> b) {
  if constexpr (sizeof(T) == 8)
    return _mm512_max_pd(a, b);
  else
    return _mm512_max_ps(a, b);
}
template <class T>
TILEGYM_SCAN_INLINE Vec<T> lesser(Vec<T> a, Vec<T> b) {
  if constexpr (sizeof(T) == 8)
    return _mm512_min_pd(a, b);
  else
    return _mm512_min_ps(a, b);
}

template <class T>
TILEGYM_SCAN_INLINE Vec<T> load(const T* from) {
  Vec<T> v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
template <class T>
TILEGYM_SCAN_INLINE Vec<T> load(const float* from)
  requires(sizeof(T) == 8)
{
  return _mm512_cvtps_pd(_mm256_loadu_ps(from));
}
template <class T>
TILEGYM_SCAN_INLINE Vec<T> load(const Half* from) {
  const auto* words = reinterpret_cast<const __m256i*>(from);
  if constexpr (sizeof(T) == 4)
    return _mm512_cvtph_ps(_mm256_loadu_si256(words));
  else
    return _mm512_cvtps_pd(_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
}
// A bf16 is the upper half of a float.
template <class T>
TILEGYM_SCAN_INLINE Vec<T> load(const Brain* from) {
  if constexpr (sizeof(T) == 4) {
    const auto* words = reinterpret_cast<const __m256i*>(from);
    return (Vec<T>)_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_loadu_si256(words)), 16);
  } else {
    const auto* words = reinterpret_cast<const __m128i*>(from);
    return _mm512_cvtps_pd((__m256)_mm256_slli_epi32(_mm256_cvtepu16_epi32(_mm_loadu_si128(words)), 16));
  }
}

#include "validation/scan.inl"

}  // namespace

ScanFn find_scan(ElementType actual, ElementType expected) noexcept {
  return choose(actual, expected);
}

}  // namespace tilegym::validation::avx512
#endif
