// AVX2, FMA and F16C.
inline constexpr std::size_t kBytes = 32;
inline constexpr bool kFusedMultiplyAdd = true;
#include "cpu_driver/kernels/vector/common.inl"

TILEGYM_INLINE Vec<float> fma(Vec<float> a, Vec<float> b, Vec<float> c) {
  return _mm256_fmadd_ps(a, b, c);
}
TILEGYM_INLINE Vec<double> fma(Vec<double> a, Vec<double> b, Vec<double> c) {
  return _mm256_fmadd_pd(a, b, c);
}
TILEGYM_INLINE Vec<float> sqrt(Vec<float> v) {
  return _mm256_sqrt_ps(v);
}
TILEGYM_INLINE Vec<double> sqrt(Vec<double> v) {
  return _mm256_sqrt_pd(v);
}
TILEGYM_INLINE Vec<float> floor(Vec<float> v) {
  return _mm256_floor_ps(v);
}
TILEGYM_INLINE Vec<double> floor(Vec<double> v) {
  return _mm256_floor_pd(v);
}
TILEGYM_INLINE Vec<float> ceil(Vec<float> v) {
  return _mm256_ceil_ps(v);
}
TILEGYM_INLINE Vec<double> ceil(Vec<double> v) {
  return _mm256_ceil_pd(v);
}
TILEGYM_INLINE Vec<std::int32_t> to_int(Vec<float> v) {
  return (Vec<std::int32_t>)_mm256_cvttps_epi32(v);
}
/// |v| <= limit in every lane; false with a NaN.
TILEGYM_INLINE bool within(Vec<float> v, float limit) {
  return _mm256_movemask_ps((__m256)(magnitude(v) <= limit)) == 0xff;
}

/// p * 2^n for integral n in [-252, 254], rounded once: both factors are in range and the first product is exact.
TILEGYM_INLINE Vec<float> scale(Vec<float> p, Vec<float> n) {
  const Vec<std::int32_t> whole = to_int(n), half = whole >> 1;
  return p * as_float((half + 127) << 23) * as_float((whole - half + 127) << 23);
}

TILEGYM_INLINE Vec<float> widen_f16(const std::uint16_t* from) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}
TILEGYM_INLINE void narrow_f16(std::uint16_t* to, Vec<float> v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}
/// v at f16 precision; kMode is an _MM_FROUND constant.
template <int kMode>
TILEGYM_INLINE Vec<float> through_f16(Vec<float> v) {
  return _mm256_cvtph_ps(_mm256_cvtps_ph(v, kMode));
}
/// One 16-bit value per float, zero-extended.
TILEGYM_INLINE Vec<std::int32_t> widen_u16(const std::uint16_t* from) {
  return (Vec<std::int32_t>)_mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}
/// Lanes are in [0, 65535].
TILEGYM_INLINE void narrow_u16(std::uint16_t* to, Vec<std::int32_t> v) {
  const __m256i packed = _mm256_packus_epi32((__m256i)v, (__m256i)v);
  const __m256i joined = _mm256_permute4x64_epi64(packed, 0b1000);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(joined));
}

/// One byte per float, zero-extended.
TILEGYM_INLINE Vec<std::int32_t> widen_u8(const std::uint8_t* from) {
  return (Vec<std::int32_t>)_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
}
/// Lanes are in [0, 255].
TILEGYM_INLINE void narrow_u8(std::uint8_t* to, Vec<std::int32_t> v) {
  const __m256i words = _mm256_packus_epi32((__m256i)v, (__m256i)v);
  const __m256i bytes = _mm256_packus_epi16(words, words);
  const __m256i joined = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 0, 0, 0, 0, 0, 0));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(joined));
}

/// Sums of neighbouring products of signed 16-bit values, one 32-bit lane a pair.
TILEGYM_INLINE Vec<std::int32_t> multiply_pairs(Vec<std::int32_t> a, Vec<std::int32_t> b) {
  return (Vec<std::int32_t>)_mm256_madd_epi16((__m256i)a, (__m256i)b);
}

// clang-format off: the second file builds on the first
#include "cpu_driver/kernels/small_floats.inl"
#include "cpu_driver/kernels/vector/half_instructions.inl"
// clang-format on
