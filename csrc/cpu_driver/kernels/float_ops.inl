// Float arithmetic, correctly rounded.

#define TILEGYM_STRIP_OP(Name, operands, ...)          \
  template <class T>                                   \
  struct Name {                                        \
    using Value = T;                                   \
    static constexpr std::size_t kOperands = operands; \
    TILEGYM_INLINE static Vec<T> apply __VA_ARGS__     \
  };

TILEGYM_STRIP_OP(Add, 2, (Vec<T> a, Vec<T> b) { return a + b; })
TILEGYM_STRIP_OP(Sub, 2, (Vec<T> a, Vec<T> b) { return a - b; })
TILEGYM_STRIP_OP(Mul, 2, (Vec<T> a, Vec<T> b) { return a * b; })
TILEGYM_STRIP_OP(Div, 2, (Vec<T> a, Vec<T> b) { return a / b; })
TILEGYM_STRIP_OP(Fma, 3, (Vec<T> a, Vec<T> b, Vec<T> c) { return fma(a, b, c); })

/// Rounded to odd in f32, so that a following rounding to f16 or bf16 sees on which side of its halfway points the
/// exact value lies: of the two neighbours the one with the odd mantissa, or the exact value. The
/// neighbours come from the modes towards the infinities.
inline constexpr unsigned kDownMode = kFloatMode<Rounding::negative_inf, false>;
inline constexpr unsigned kUpMode = kFloatMode<Rounding::positive_inf, false>;

template <std::size_t kScalars>
void fma_to_odd(void* dst, const void* a, const void* b, const void* c, std::size_t lanes) noexcept {
  alignas(kVectorBytes) float low[kStripLanes];
  with_float_mode<strip<Fma<float>, kScalars>, kDownMode>(low, a, b, c, lanes);
  with_float_mode<strip<Fma<float>, kScalars>, kUpMode>(dst, a, b, c, lanes);
  auto* high = static_cast<float*>(dst);
  for (std::size_t i = 0; i < lanes; i += kCount<float>) {
    const Vec<float> down = load(low + i), up = load(high + i);
    store(high + i, (bits_of(down) & 1) != 0 ? down : up);
  }
}

template <std::size_t... kScalars>
StripFn pick_fma_to_odd(unsigned scalars, std::index_sequence<kScalars...>) noexcept {
  constexpr StripFn kKernels[] = {fma_to_odd<kScalars>...};
  return kKernels[scalars % 8];
}

/// f16 and bf16 in f32 lanes need the intermediate result rounded to odd; directed roundings compose as they are.
inline StripFn float_fma(const StripKey& key) noexcept {
  const bool narrow = key.element == tile_ir::ElementType::f16 || key.element == tile_ir::ElementType::bf16;
  if (narrow && key.rounding == Rounding::nearest_even) {
    return pick_fma_to_odd(key.scalar_operands, std::make_index_sequence<8>{});
  }
  return by_rounding<Fma<float>>(key);
}

TILEGYM_STRIP_OP(Neg, 1, (Vec<T> a) { return (Vec<T>)(bits_of(a) ^ kSignBits<T>); })
TILEGYM_STRIP_OP(Abs, 1, (Vec<T> a) { return (Vec<T>)(bits_of(a) & ~kSignBits<T>); })
TILEGYM_STRIP_OP(Floor, 1, (Vec<T> a) { return floor(a); })
TILEGYM_STRIP_OP(Ceil, 1, (Vec<T> a) { return ceil(a); })
TILEGYM_STRIP_OP(Sqrt, 1, (Vec<T> a) { return sqrt(a); })

/// The quotient, corrected by a step of Newton's with the error of its square kept: half a unit, and a little.
template <class T>
TILEGYM_INLINE Vec<T> reciprocal_root(Vec<T> a) {
  const Vec<T> y = T{1} / sqrt(a);
  const Vec<T> product = a * y;
  const Vec<T> rest = fma(-product, y, broadcast(T{1})) - fma(a, y, -product) * y;
  return rest == rest ? fma(y * T{0.5}, rest, y) : y;
}
TILEGYM_STRIP_OP(Rsqrt, 1, (Vec<T> a) { return reciprocal_root<T>(a); })

/// Subnormals become zeros of their sign. Minimum and maximum pass operands through unchanged, so that the float unit
/// would compare flushed values but return the others.
template <class T>
TILEGYM_INLINE Vec<T> flushed(Vec<T> a) {
  const Vec<T> zero = (Vec<T>)(bits_of(a) & kSignBits<T>);
  return (Vec<T>)(bits_of(a) & ~kSignBits<T>) < broadcast(kSmallestNormal<T>) ? zero : a;
}

/// kMax: maximum, else minimum. -0 is less than +0: of equal operands the common or the joint bits are the answer.
template <class T, bool kMax, bool kNanWins, bool kFlush>
struct Extremum {
  using Value = T;
  static constexpr std::size_t kOperands = 2;
  TILEGYM_INLINE static Vec<T> apply(Vec<T> a, Vec<T> b) {
    if constexpr (kFlush) {
      a = flushed<T>(a);
      b = flushed<T>(b);
    }
    const Vec<T> equal = (Vec<T>)(kMax ? bits_of(a) & bits_of(b) : bits_of(a) | bits_of(b));
    const Vec<T> ordered = a == b ? equal : ((kMax ? a > b : a < b) ? a : b);
    if constexpr (kNanWins) return a == a ? ordered : a;
    return b == b ? ordered : a;
  }
};

template <class T, bool kMax>
StripFn extremum(const StripKey& key) noexcept {
  if (key.propagate_nan) {
    return key.flush_to_zero ? by_scalars<Extremum<T, kMax, true, true>>(key)
                             : by_scalars<Extremum<T, kMax, true, false>>(key);
  }
  return key.flush_to_zero ? by_scalars<Extremum<T, kMax, false, true>>(key)
                           : by_scalars<Extremum<T, kMax, false, false>>(key);
}

template <class Format, Rounding kMode>
struct RoundTo {
  using Value = float;
  static constexpr std::size_t kOperands = 1;
  TILEGYM_INLINE static Vec<float> apply(Vec<float> a) { return round_to<Format, kMode>(a); }
};

template <Rounding kMode>
struct RoundToPower {
  using Value = float;
  static constexpr std::size_t kOperands = 1;
  TILEGYM_INLINE static Vec<float> apply(Vec<float> a) { return round_to_power<kMode>(a); }
};

inline StripFn by_power(const StripKey& key) noexcept {
  switch (key.rounding) {
    case Rounding::zero:
      return by_scalars<RoundToPower<Rounding::zero>>(key);
    case Rounding::positive_inf:
      return by_scalars<RoundToPower<Rounding::positive_inf>>(key);
    default:
      return by_scalars<RoundToPower<Rounding::nearest_even>>(key);
  }
}

template <class Format>
StripFn by_format(const StripKey& key) noexcept {
  switch (key.rounding) {
    case Rounding::zero:
      return by_scalars<RoundTo<Format, Rounding::zero>>(key);
    case Rounding::negative_inf:
      return by_scalars<RoundTo<Format, Rounding::negative_inf>>(key);
    case Rounding::positive_inf:
      return by_scalars<RoundTo<Format, Rounding::positive_inf>>(key);
    default:
      return by_scalars<RoundTo<Format, Rounding::nearest_even>>(key);
  }
}

inline StripFn round_to_element(const StripKey& key) noexcept {
  using enum tile_ir::ElementType;
  switch (key.element) {
    case f16:
      return by_format<F16>(key);
    case bf16:
      return by_format<Bf16>(key);
    case tf32:
      return by_format<Tf32>(key);
    case f8e5m2:
      return by_format<F8E5M2>(key);
    case f8e4m3fn:
      return by_format<F8E4M3FN>(key);
    case f8e8m0fnu:
      return by_power(key);
    case f4e2m1fn:
      return by_format<F4E2M1FN>(key);
    default:
      return nullptr;
  }
}
