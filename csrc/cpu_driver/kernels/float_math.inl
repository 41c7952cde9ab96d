// Elementary functions of f32: range reduction and a minimax polynomial (relative error below 2^-27 unless noted),
// every step with fused multiply-adds, so that all levels give the same bits.

template <std::size_t kTerms>
TILEGYM_INLINE Vec<float> polynomial(Vec<float> x, const float (&coefficients)[kTerms]) {
  Vec<float> sum = splat(coefficients[kTerms - 1]);
  for (std::size_t i = kTerms - 1; i-- > 0;) sum = fma(sum, x, splat(coefficients[i]));
  return sum;
}

/// NaN passes both comparisons unchanged.
TILEGYM_INLINE Vec<float> clamped(Vec<float> x, float low, float high) {
  x = x < splat(low) ? splat(low) : x;
  return x > splat(high) ? splat(high) : x;
}

/// p * 2^n for a normal result: n, in the low bits of `shifted`, is added to the exponent.
TILEGYM_INLINE Vec<float> add_to_exponent(Vec<float> p, Vec<float> shifted) {
  return as_float(add_bits(bits_of(p), bits_of(shifted) << 23));
}

/// 2^x, at most 0.95 ulp. Beyond the clamps the result is 0 or infinity.
struct Exp2 {
  using Value = float;
  static constexpr std::size_t kOperands = 1;
  static constexpr float kPoly[] = {1.0F,
                                    0.6931472057372677F,
                                    0.24022646890634194F,
                                    0.05550328776965331F,
                                    0.00961848895710427F,
                                    0.0013399931219189559F,
                                    0.00015345812006346848F};
  TILEGYM_INLINE static Vec<float> apply(Vec<float> x) {
    if (within(x, 125.0F)) [[likely]] {
      const Vec<float> shifted = x + kIntegerShift;
      return add_to_exponent(polynomial(x - (shifted - kIntegerShift), kPoly), shifted);
    }
    x = clamped(x, -151.0F, 129.0F);
    const Vec<float> n = nearest(x);
    return scale(polynomial(x - n, kPoly), n);
  }
};

inline constexpr float kLog2E = 1.44269504F;
/// ln 2 in two parts; products of the first with integers up to 2^8 are exact.
inline constexpr float kLn2High = 0.693145751953125F, kLn2Low = 1.42860677e-6F;

/// e^x, at most 1 ulp.
struct Exp {
  using Value = float;
  static constexpr std::size_t kOperands = 1;

  /// e^(x - n ln 2).
  TILEGYM_INLINE static Vec<float> reduced(Vec<float> x, Vec<float> n) {
    constexpr float kPoly[] = {0.49999994F, 0.166665211F, 0.0416682661F, 0.0083686756F, 0.00138207432F};
    const Vec<float> r = fma(n, splat(-kLn2Low), fma(n, splat(-kLn2High), x));
    return fma(polynomial(r, kPoly), r * r, r) + 1.0F;
  }

  TILEGYM_INLINE static Vec<float> apply(Vec<float> x) {
    const bool normal = within(x, 86.0F);
    if (!normal) [[unlikely]]
      x = clamped(x, -104.5F, 89.5F);
    const Vec<float> shifted = fma(x, splat(kLog2E), splat(kIntegerShift));
    const Vec<float> n = shifted - kIntegerShift;
    return normal ? add_to_exponent(reduced(x, n), shifted) : scale(reduced(x, n), n);
  }
};

/// x = 2^exponent * (1 + fraction) with 1 + fraction in [sqrt(1/2), sqrt(2)).
struct Decomposed {
  Vec<float> exponent;
  Vec<float> fraction;
};

TILEGYM_INLINE Decomposed decompose(Vec<float> x) {
  const auto subnormal = x < splat(kSmallestNormal<float>);
  const Vec<float> normal = subnormal ? x * 0x1p24F : x;
  constexpr std::int32_t kSqrtHalf = 0x3f3504f3;
  const Vec<std::int32_t> offset = add_bits(bits_of(normal), splat(-kSqrtHalf));
  const Vec<std::int32_t> exponent = (offset >> 23) - (subnormal & 24);
  const Vec<float> mantissa = as_float((offset & 0x7fffff) + kSqrtHalf);
  return {__builtin_convertvector(exponent, Vec<float>), mantissa - 1.0F};
}

/// ln(1 + f) - f.
TILEGYM_INLINE Vec<float> log_tail(Vec<float> f) {
  constexpr float kPoly[] = {0.333333313F, -0.250008196F, 0.200012431F, -0.166234106F,
                             0.142015398F, -0.131595507F, 0.127624854F, -0.0763694048F};
  const Vec<float> square = f * f;
  return fma(polynomial(f, kPoly) * f, square, square * -0.5F);
}

/// The special cases of a logarithm: -infinity at 0, NaN below, +infinity and NaN as they are.
TILEGYM_INLINE Vec<float> log_domain(Vec<float> x, Vec<float> result) {
  result = x < splat(kInfinity) ? result : x;
  result = x == 0.0F ? splat(-kInfinity) : result;
  return x < 0.0F ? splat(kQuietNan) : result;
}

struct Log {
  using Value = float;
  static constexpr std::size_t kOperands = 1;
  TILEGYM_INLINE static Vec<float> apply(Vec<float> x) {
    const Decomposed d = decompose(x);
    const Vec<float> low = fma(d.exponent, splat(kLn2Low), log_tail(d.fraction));
    return log_domain(x, fma(d.exponent, splat(kLn2High), low + d.fraction));
  }
};

/// The product of the leading term with 1/ln 2 is kept in two parts.
struct Log2 {
  using Value = float;
  static constexpr std::size_t kOperands = 1;
  TILEGYM_INLINE static Vec<float> apply(Vec<float> x) {
    constexpr float kLog2ELow = 1.92596303e-8F;
    const Decomposed d = decompose(x);
    const Vec<float> high = d.fraction * splat(kLog2E);
    const Vec<float> error = fma(d.fraction, splat(kLog2E), -high);
    const Vec<float> low = fma(d.fraction, splat(kLog2ELow), fma(log_tail(d.fraction), splat(kLog2E), error));
    return log_domain(x, d.exponent + (high + low));
  }
};

/// Odd polynomial near zero, 1 - 2 / (e^2x + 1) elsewhere; 1 from 9.02 on.
struct Tanh {
  using Value = float;
  static constexpr std::size_t kOperands = 1;
  TILEGYM_INLINE static Vec<float> apply(Vec<float> x) {
    constexpr float kPoly[] = {-0.333332807F, 0.133314103F, -0.0537371412F, 0.0206308253F, -0.00569581287F};
    const Vec<float> a = magnitude(x);
    const Vec<float> square = x * x;
    const Vec<float> small = fma(polynomial(square, kPoly) * square, x, x);
    const Vec<float> large = 1.0F - 2.0F / (Exp::apply(clamped(a + a, 0.0F, 20.0F)) + 1.0F);
    return with_sign_of(a < splat(0.625F) ? magnitude(small) : large, x);
  }
};
