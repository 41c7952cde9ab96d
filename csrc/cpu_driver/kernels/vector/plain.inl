// The baseline every x86-64 processor has. Slow where it must imitate fused operations, but equal to the other levels
// bit for bit.
inline constexpr std::size_t kBytes = 16;
inline constexpr bool kFusedMultiplyAdd = false;
#include "cpu_driver/kernels/vector/common.inl"

TILEGYM_INLINE Vec<float> fma(Vec<float> a, Vec<float> b, Vec<float> c) {
  for (std::size_t i = 0; i < kCount<float>; ++i) a[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return a;
}
TILEGYM_INLINE Vec<double> fma(Vec<double> a, Vec<double> b, Vec<double> c) {
  for (std::size_t i = 0; i < kCount<double>; ++i) a[i] = __builtin_fma(a[i], b[i], c[i]);
  return a;
}
TILEGYM_INLINE Vec<float> sqrt(Vec<float> v) {
  return (Vec<float>)_mm_sqrt_ps((__m128)v);
}
TILEGYM_INLINE Vec<double> sqrt(Vec<double> v) {
  return (Vec<double>)_mm_sqrt_pd((__m128d)v);
}
#define TILEGYM_PER_LANE(function, T, call)                        \
  TILEGYM_INLINE Vec<T> function(Vec<T> v) {                       \
    for (std::size_t i = 0; i < kCount<T>; ++i) v[i] = call(v[i]); \
    return v;                                                      \
  }
TILEGYM_PER_LANE(floor, float, __builtin_floorf)
TILEGYM_PER_LANE(floor, double, __builtin_floor)
TILEGYM_PER_LANE(ceil, float, __builtin_ceilf)
TILEGYM_PER_LANE(ceil, double, __builtin_ceil)
#undef TILEGYM_PER_LANE
TILEGYM_INLINE Vec<std::int32_t> to_int(Vec<float> v) {
  return (Vec<std::int32_t>)_mm_cvttps_epi32((__m128)v);
}
/// |v| <= limit in every lane; false with a NaN.
TILEGYM_INLINE bool within(Vec<float> v, float limit) {
  return _mm_movemask_ps((__m128)(magnitude(v) <= limit)) == 0xf;
}

/// p * 2^n for integral n in [-252, 254], rounded once: both factors are in range and the first product is exact.
TILEGYM_INLINE Vec<float> scale(Vec<float> p, Vec<float> n) {
  const Vec<std::int32_t> whole = to_int(n), half = whole >> 1;
  return p * as_float((half + 127) << 23) * as_float((whole - half + 127) << 23);
}

/// One value of 8 or 16 bits per float, zero-extended.
template <class Code>
TILEGYM_INLINE Vec<std::int32_t> widen_codes(const Code* from) {
  return Vec<std::int32_t>{from[0], from[1], from[2], from[3]};
}
TILEGYM_INLINE Vec<std::int32_t> widen_u16(const std::uint16_t* from) {
  return widen_codes(from);
}
TILEGYM_INLINE Vec<std::int32_t> widen_u8(const std::uint8_t* from) {
  return widen_codes(from);
}

/// Lanes fit in Code.
template <class Code>
TILEGYM_INLINE void narrow_codes(Code* to, Vec<std::int32_t> v) {
  for (std::size_t i = 0; i < kCount<float>; ++i) to[i] = static_cast<Code>(v[i]);
}
TILEGYM_INLINE void narrow_u16(std::uint16_t* to, Vec<std::int32_t> v) {
  narrow_codes(to, v);
}
TILEGYM_INLINE void narrow_u8(std::uint8_t* to, Vec<std::int32_t> v) {
  narrow_codes(to, v);
}

/// Sums of neighbouring products of signed 16-bit values, one 32-bit lane a pair.
TILEGYM_INLINE Vec<std::int32_t> multiply_pairs(Vec<std::int32_t> a, Vec<std::int32_t> b) {
  return (Vec<std::int32_t>)_mm_madd_epi16((__m128i)a, (__m128i)b);
}

#include "cpu_driver/kernels/small_floats.inl"

TILEGYM_INLINE Vec<float> widen_f16(const std::uint16_t* from) {
  return decode<F16>(widen_u16(from));
}
TILEGYM_INLINE void narrow_f16(std::uint16_t* to, Vec<float> v) {
  narrow_u16(to, encode<F16>(round_to<F16, Rounding::nearest_even>(v)));
}
