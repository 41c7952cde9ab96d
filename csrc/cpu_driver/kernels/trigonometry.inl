// Sine and cosine of f32: x - n * pi/2 in two parts, then a polynomial chosen by n modulo 4; at most 1 ulp.

/// pi/2 in three parts. The first fused step of the reduction is exact, the last corrects the second.
inline constexpr float kHalfPi[] = {0x1.921fb6p0F, -0x1.777a5cp-25F, -0x1.ee59dap-50F};
inline constexpr float kTwoOverPi = 0x1.45f306p-1F;
/// Beyond it n is no longer exact enough, and the C library takes over lane by lane.
inline constexpr float kReductionLimit = 48000.0F;

/// Sine of r + low for even `quadrant`, cosine for odd, negated in quadrants 2 and 3.
TILEGYM_INLINE Vec<float> sine_in_quadrant(Vec<float> r, Vec<float> low, Vec<std::int32_t> quadrant) {
  constexpr float kSine[] = {-0.166666672F, 0.0083333794F, -0.000198530863F, 2.83295208e-06F};
  constexpr float kCosine[] = {0.0416666679F, -0.001388898F, 2.48220149e-05F, -2.88798475e-07F};
  const Vec<float> square = r * r;
  const Vec<float> sine = r + fma(polynomial(square, kSine) * square, r, low);
  // 1 - (r + low)^2 / 2 = most + rest: what rounding took away is put back.
  const Vec<float> most = fma(square, splat(-0.5F), splat(1.0F));
  const Vec<float> lost = fma(r, r, -square);
  const Vec<float> rest = fma(square, splat(-0.5F), 1.0F - most) - fma(r, low, lost * 0.5F);
  const Vec<float> cosine = most + fma(polynomial(square, kCosine) * square, square, rest);
  const Vec<float> value = (quadrant & 1) != 0 ? cosine : sine;
  return as_float(bits_of(value) ^ ((quadrant & 2) << 30));
}

template <float (*kFunction)(float) noexcept>
[[gnu::noinline, gnu::cold]] Vec<float> repaired(Vec<float> x, Vec<float> result) {
  for (std::size_t i = 0; i < kCount<float>; ++i) {
    if (!(__builtin_fabsf(x[i]) <= kReductionLimit)) result[i] = kFunction(x[i]);
  }
  return result;
}

/// kQuadrants = 0: sine; 1: cosine, the sine a quarter turn further.
template <std::int32_t kQuadrants, float (*kFunction)(float) noexcept>
struct Circular {
  using Value = float;
  static constexpr std::size_t kOperands = 1;
  TILEGYM_INLINE static Vec<float> apply(Vec<float> x) {
    const Vec<float> shifted = fma(x, splat(kTwoOverPi), splat(kIntegerShift));
    const Vec<float> n = shifted - kIntegerShift;
    const Vec<float> high = fma(n, splat(-kHalfPi[0]), x);
    const Vec<float> second = n * kHalfPi[1];
    const Vec<float> middle = high - second;
    const Vec<float> taken = high - middle;
    // What the product and the difference left out; either part of the latter may be the larger one.
    const Vec<float> lost = (high - (middle + taken)) + (taken - second) - fma(n, splat(kHalfPi[1]), -second);
    const Vec<float> tail = fma(n, splat(-kHalfPi[2]), lost);
    const Vec<float> r = middle + tail;
    Vec<float> result = sine_in_quadrant(r, tail - (r - middle), add_bits(bits_of(shifted), splat(kQuadrants)));
    if constexpr (kQuadrants == 0) result = x == 0.0F ? x : result;  // the reduction loses the sign of -0
    if (within(x, kReductionLimit)) [[likely]]
      return result;
    return repaired<kFunction>(x, result);
  }
};
