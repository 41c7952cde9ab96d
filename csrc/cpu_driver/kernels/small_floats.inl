// Narrow float formats as vectors of f32: rounding to their precision, and their codes. Branch-free, so that every
// format runs at vector speed at every level.
using tile_ir::Ordering;
using tile_ir::Predicate;
using tile_ir::Rounding;
using tile_ir::Signedness;

enum class Overflow : std::uint8_t { infinity, saturate };

/// kMantissa stored bits, exponent bias kBias, largest finite value kMax. kSpecialExponent: the top exponent is kept
/// for infinity and NaN; otherwise kNan is the only special code (0: none).
struct F16 {
  static constexpr int kMantissa = 10, kBias = 15, kBits = 16;
  static constexpr float kMax = 65504.0F;
  static constexpr Overflow kOverflow = Overflow::infinity;
  static constexpr bool kSpecialExponent = true;
  static constexpr std::int32_t kNan = 0x7e00;
};
struct Bf16 {
  static constexpr int kMantissa = 7, kBias = 127, kBits = 16;
  static constexpr float kMax = 0x1.fep127F;
  static constexpr Overflow kOverflow = Overflow::infinity;
  static constexpr bool kSpecialExponent = true;
  static constexpr std::int32_t kNan = 0x7fc0;
};
/// Held in 32 bits.
struct Tf32 {
  static constexpr int kMantissa = 10, kBias = 127, kBits = 19;
  static constexpr float kMax = 0x1.ffcp127F;
  static constexpr Overflow kOverflow = Overflow::infinity;
  static constexpr bool kSpecialExponent = true;
  static constexpr std::int32_t kNan = 0x3fe00;
};
struct F8E5M2 {
  static constexpr int kMantissa = 2, kBias = 15, kBits = 8;
  static constexpr float kMax = 57344.0F;
  static constexpr Overflow kOverflow = Overflow::infinity;
  static constexpr bool kSpecialExponent = true;
  static constexpr std::int32_t kNan = 0x7e;
};
struct F8E4M3FN {
  static constexpr int kMantissa = 3, kBias = 7, kBits = 8;
  static constexpr float kMax = 448.0F;
  static constexpr Overflow kOverflow = Overflow::saturate;
  static constexpr bool kSpecialExponent = false;
  static constexpr std::int32_t kNan = 0x7f;
};
/// No NaN: a NaN becomes the largest value, as the instruction of the processors that have the format does.
struct F4E2M1FN {
  static constexpr int kMantissa = 1, kBias = 1, kBits = 4;
  static constexpr float kMax = 6.0F;
  static constexpr Overflow kOverflow = Overflow::saturate;
  static constexpr bool kSpecialExponent = false;
  static constexpr std::int32_t kNan = 0;
};

constexpr float power_of_two(int exponent) {
  float value = 1.0F;
  for (; exponent > 0; --exponent) value *= 2.0F;
  for (; exponent < 0; ++exponent) value *= 0.5F;
  return value;
}
/// Formats with the exponent range of f32 share its subnormals: rounding bit patterns is right there too.
template <class Format>
inline constexpr bool kOwnSubnormals = Format::kBias != 127;
template <class Format>
inline constexpr float kMinNormal = power_of_two(1 - Format::kBias);
/// Subnormals of the format are multiples of 1 / kSubnormalScale.
template <class Format>
inline constexpr float kSubnormalScale =
    power_of_two(kOwnSubnormals<Format> ? Format::kBias - 1 + Format::kMantissa : 0);

/// All ones where the mode moves a value with this sign away from zero.
template <Rounding kMode>
TILEGYM_INLINE Vec<std::int32_t> away_from_zero(Vec<float> v) {
  const Vec<std::int32_t> negative = bits_of(v) >> 31;
  if constexpr (kMode == Rounding::negative_inf) return negative;
  if constexpr (kMode == Rounding::positive_inf) return ~negative;
  return Vec<std::int32_t>{};
}

/// Drops mantissa bits of a magnitude; a carry goes into the exponent as it should.
template <class Format, Rounding kMode>
TILEGYM_INLINE Vec<float> round_mantissa(Vec<float> absolute, Vec<std::int32_t> away) {
  constexpr int kDrop = 23 - Format::kMantissa;
  constexpr std::int32_t kMask = (1 << kDrop) - 1;
  const Vec<std::int32_t> bits = bits_of(absolute);
  if constexpr (kMode == Rounding::nearest_even) {
    return as_float(add_bits(bits, ((bits >> kDrop) & 1) + (kMask >> 1)) & ~kMask);
  } else {
    return as_float(add_bits(bits, away & kMask) & ~kMask);
  }
}

template <class Format, Rounding kMode>
TILEGYM_INLINE Vec<float> round_subnormal(Vec<float> absolute, Vec<std::int32_t> away) {
  const Vec<float> scaled = absolute * splat(kSubnormalScale<Format>);
  Vec<float> whole;
  if constexpr (kMode == Rounding::nearest_even) {
    whole = nearest(scaled);
  } else {
    whole = away ? ceil(scaled) : floor(scaled);
  }
  return whole * splat(1.0F / kSubnormalScale<Format>);
}

/// What a magnitude above kMax becomes: the infinity only where the mode rounds up to it.
template <class Format, Rounding kMode>
TILEGYM_INLINE Vec<float> overflowed(Vec<float> absolute, Vec<std::int32_t> away) {
  const Vec<float> largest = splat(Format::kMax), infinity = splat(kInfinity);
  if constexpr (Format::kOverflow == Overflow::saturate) return largest;
  if constexpr (kMode == Rounding::nearest_even) return infinity;
  return (away | (absolute == infinity)) ? infinity : largest;
}

/// A NaN as the format keeps it: quiet, without the payload bits that it drops.
template <class Format>
TILEGYM_INLINE Vec<float> quiet_nan(Vec<float> v) {
  constexpr std::int32_t kDropped = (1 << (23 - Format::kMantissa)) - 1;
  if constexpr (Format::kNan == 0) return splat(Format::kMax);
  return as_float((bits_of(v) | 0x400000) & ~kDropped);
}

/// v rounded to the format, as f32. NaN stays a quiet NaN.
template <class Format, Rounding kMode>
TILEGYM_INLINE Vec<float> round_to(Vec<float> v) {
  if constexpr (!kOwnSubnormals<Format> && kMode == Rounding::nearest_even) {
    return v == v ? round_mantissa<Format, kMode>(v, Vec<std::int32_t>{}) : quiet_nan<Format>(v);
  }
  const Vec<float> absolute = magnitude(v);
  const Vec<std::int32_t> away = away_from_zero<kMode>(v);
  Vec<float> rounded = round_mantissa<Format, kMode>(absolute, away);
  if constexpr (kOwnSubnormals<Format>) {
    rounded = absolute < splat(kMinNormal<Format>) ? round_subnormal<Format, kMode>(absolute, away) : rounded;
  }
  rounded = rounded > splat(Format::kMax) ? overflowed<Format, kMode>(absolute, away) : rounded;
  rounded = v == v ? rounded : quiet_nan<Format>(absolute);
  return with_sign_of(rounded, v);
}

/// 2^-127, the smallest value of f8e8m0fnu and a subnormal of f32.
inline constexpr std::int32_t kSmallestPowerBits = 0x400000;

/// |v| rounded to a power of two in [2^-127, 2^127], the values of f8e8m0fnu: the format has no sign, no zero and no
/// infinity, and saturates.
template <Rounding kMode>
TILEGYM_INLINE Vec<float> round_to_power(Vec<float> v) {
  constexpr std::int32_t kMantissa = 0x7fffff, kLargest = 0x7f000000;
  const Vec<std::int32_t> bits = bits_of(magnitude(v));
  Vec<std::int32_t> add = Vec<std::int32_t>{};
  if constexpr (kMode == Rounding::positive_inf) add = add + kMantissa;
  if constexpr (kMode == Rounding::nearest_even) add = add + (kMantissa >> 1) + ((bits >> 23) & 1);
  Vec<std::int32_t> power = add_bits(bits, add) & ~kMantissa;
  // Below the normal range the candidates are 2^-127 and 2^-126; the former has the even code.
  constexpr std::int32_t kTurn = kMode == Rounding::positive_inf   ? kSmallestPowerBits
                                 : kMode == Rounding::nearest_even ? kSmallestPowerBits * 3 / 2
                                                                   : kMantissa;
  power = bits <= kTurn ? splat(kSmallestPowerBits) : (bits <= kMantissa ? splat(kMantissa + 1) : power);
  power = power > kLargest ? splat(kLargest) : power;
  return v == v ? as_float(power) : splat(kQuietNan);
}

/// Code of a value that the format can hold.
template <class Format>
TILEGYM_INLINE Vec<std::int32_t> encode(Vec<float> v) {
  constexpr int kDrop = 23 - Format::kMantissa;
  const Vec<float> absolute = magnitude(v);
  Vec<std::int32_t> code = (bits_of(absolute) >> kDrop) - ((127 - Format::kBias) << Format::kMantissa);
  if constexpr (kOwnSubnormals<Format>) {
    const Vec<float> steps = min_of(absolute * splat(kSubnormalScale<Format>), splat(power_of_two(Format::kMantissa)));
    code = absolute < splat(kMinNormal<Format>) ? to_int(steps) : code;
  }
  constexpr std::int32_t kTop = ((1 << (Format::kBits - 1)) - 1) & ~((1 << Format::kMantissa) - 1);
  if constexpr (Format::kSpecialExponent) {
    code = absolute == splat(kInfinity) ? splat(kTop) : code;
  }
  if constexpr (Format::kNan != 0) code = v == v ? code : splat(Format::kNan);
  return code | ((bits_of(v) >> 31) & (1 << (Format::kBits - 1)));
}

/// Value of a code; bits above the format are zero.
template <class Format>
TILEGYM_INLINE Vec<float> decode(Vec<std::int32_t> code) {
  constexpr std::int32_t kMagnitude = (1 << (Format::kBits - 1)) - 1;
  const Vec<std::int32_t> magnitude_code = code & kMagnitude;
  const Vec<std::int32_t> sign = (code & ~kMagnitude) << (32 - Format::kBits);
  Vec<std::int32_t> bits = (magnitude_code << (23 - Format::kMantissa)) + ((127 - Format::kBias) << 23);
  if constexpr (kOwnSubnormals<Format>) {
    const Vec<float> steps = __builtin_convertvector(magnitude_code, Vec<float>);
    const Vec<float> subnormal = steps * splat(1.0F / kSubnormalScale<Format>);
    bits = magnitude_code < (1 << Format::kMantissa) ? bits_of(subnormal) : bits;
  }
  constexpr std::int32_t kTop = kMagnitude & ~((1 << Format::kMantissa) - 1);
  if constexpr (Format::kSpecialExponent) {
    bits = magnitude_code >= kTop ? bits | 0x7f800000 : bits;
  } else if constexpr (Format::kNan != 0) {
    bits = magnitude_code == Format::kNan ? splat(0x7fc00000) : bits;
  }
  return as_float(bits | sign);
}
