// AVX-512 F, BW, DQ and VL.
// g++ 12 takes the undefined pass-through operand inside its own intrinsics for a mistake of ours.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
inline constexpr std::size_t kBytes = 64;
inline constexpr bool kFusedMultiplyAdd = true;
#include "cpu_driver/kernels/vector/common.inl"

TILEGYM_INLINE Vec<float> fma(Vec<float> a, Vec<float> b, Vec<float> c) {
  return _mm512_fmadd_ps(a, b, c);
}
TILEGYM_INLINE Vec<double> fma(Vec<double> a, Vec<double> b, Vec<double> c) {
  return _mm512_fmadd_pd(a, b, c);
}
TILEGYM_INLINE Vec<float> sqrt(Vec<float> v) {
  return _mm512_sqrt_ps(v);
}
TILEGYM_INLINE Vec<double> sqrt(Vec<double> v) {
  return _mm512_sqrt_pd(v);
}
TILEGYM_INLINE Vec<float> floor(Vec<float> v) {
  return _mm512_floor_ps(v);
}
TILEGYM_INLINE Vec<double> floor(Vec<double> v) {
  return _mm512_floor_pd(v);
}
TILEGYM_INLINE Vec<float> ceil(Vec<float> v) {
  return _mm512_ceil_ps(v);
}
TILEGYM_INLINE Vec<double> ceil(Vec<double> v) {
  return _mm512_ceil_pd(v);
}
TILEGYM_INLINE Vec<std::int32_t> to_int(Vec<float> v) {
  return (Vec<std::int32_t>)_mm512_cvttps_epi32(v);
}
/// |v| <= limit in every lane; false with a NaN.
TILEGYM_INLINE bool within(Vec<float> v, float limit) {
  return _mm512_cmp_ps_mask(magnitude(v), splat(limit), _CMP_LE_OQ) == 0xffff;
}

/// p * 2^n for integral n, rounded once.
TILEGYM_INLINE Vec<float> scale(Vec<float> p, Vec<float> n) {
  return _mm512_scalef_ps(p, n);
}

TILEGYM_INLINE Vec<float> widen_f16(const std::uint16_t* from) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}
TILEGYM_INLINE void narrow_f16(std::uint16_t* to, Vec<float> v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                      _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
/// v at f16 precision; kMode is an _MM_FROUND constant.
template <int kMode>
TILEGYM_INLINE Vec<float> through_f16(Vec<float> v) {
  return _mm512_cvtph_ps(_mm512_cvtps_ph(v, kMode | _MM_FROUND_NO_EXC));
}
/// One 16-bit value per float, zero-extended.
TILEGYM_INLINE Vec<std::int32_t> widen_u16(const std::uint16_t* from) {
  return (Vec<std::int32_t>)_mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
}
/// Lanes are in [0, 65535].
TILEGYM_INLINE void narrow_u16(std::uint16_t* to, Vec<std::int32_t> v) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi32_epi16((__m512i)v));
}

/// One byte per float, zero-extended.
TILEGYM_INLINE Vec<std::int32_t> widen_u8(const std::uint8_t* from) {
  return (Vec<std::int32_t>)_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
}
/// Lanes are in [0, 255].
TILEGYM_INLINE void narrow_u8(std::uint8_t* to, Vec<std::int32_t> v) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8((__m512i)v));
}

/// Sums of neighbouring products of signed 16-bit values, one 32-bit lane a pair.
TILEGYM_INLINE Vec<std::int32_t> multiply_pairs(Vec<std::int32_t> a, Vec<std::int32_t> b) {
  return (Vec<std::int32_t>)_mm512_madd_epi16((__m512i)a, (__m512i)b);
}

// clang-format off: the second file builds on the first
#include "cpu_driver/kernels/small_floats.inl"
#include "cpu_driver/kernels/vector/half_instructions.inl"
// clang-format on
