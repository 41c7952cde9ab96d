// Conversions between lane kinds.

template <Lane kLane, bool kSigned>
struct LaneType;
#define TILEGYM_LANE_TYPE(lane, signed_type, unsigned_type)               \
  template <bool kSigned>                                                 \
  struct LaneType<Lane::lane, kSigned> {                                  \
    using type = std::conditional_t<kSigned, signed_type, unsigned_type>; \
  };
TILEGYM_LANE_TYPE(f32, float, float)
TILEGYM_LANE_TYPE(f64, double, double)
TILEGYM_LANE_TYPE(i8, std::int8_t, std::uint8_t)
TILEGYM_LANE_TYPE(i16, std::int16_t, std::uint16_t)
TILEGYM_LANE_TYPE(i32, std::int32_t, std::uint32_t)
TILEGYM_LANE_TYPE(i64, std::int64_t, std::uint64_t)
TILEGYM_LANE_TYPE(mask, std::uint8_t, std::uint8_t)
#undef TILEGYM_LANE_TYPE

/// Towards zero; the nearest limit outside the range, 0 for NaN.
template <class To, class From>
TILEGYM_INLINE To saturated(From x) {
  constexpr To kMin = std::numeric_limits<To>::min(), kMax = std::numeric_limits<To>::max();
  constexpr From kBegin = static_cast<From>(kMin), kEnd = static_cast<From>(kMax / 2 + 1) * 2;
  const To inside = static_cast<To>(x >= kBegin && x < kEnd ? x : From{0});
  const To capped = x >= kEnd ? kMax : inside;
  return x < kBegin ? kMin : capped;
}

/// A signed i1 holds 0 and -1, an unsigned one 0 and 1.
template <class From, bool kSigned>
TILEGYM_INLINE std::uint8_t to_mask(From x) {
  if constexpr (std::is_floating_point_v<From>)
    return kSigned ? x <= -1 : x >= 1;
  else
    return static_cast<std::uint8_t>(x & 1);
}

template <class To, class From>
TILEGYM_INLINE To converted(From x) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
    return saturated<To>(x);
  else
    return static_cast<To>(x);
}

template <Lane kTo, Lane kFrom, bool kSigned, std::size_t kScalars>
void convert_strip(void* dst, const void* a, const void*, const void*, std::size_t lanes) noexcept {
  using To = typename LaneType<kTo, kSigned>::type;
  using From = typename LaneType<kFrom, kSigned>::type;
  const Lanes<From, kScalars != 0> x(a, dst, lanes);
  auto* out = static_cast<To*>(dst);
  const std::size_t end = padded<std::conditional_t<(sizeof(To) > sizeof(From)), To, From>>(lanes);
  TILEGYM_LANES_INDEPENDENT
  for (std::size_t i = 0; i < end; ++i) {
    if constexpr (kTo == Lane::mask && kFrom != Lane::mask) {
      out[i] = to_mask<From, kSigned>(x[i]);
    } else if constexpr (kFrom == Lane::mask && kTo != Lane::mask && kSigned) {
      out[i] = static_cast<To>(-static_cast<std::int8_t>(x[i]));
    } else {
      out[i] = converted<To>(x[i]);
    }
  }
}

inline constexpr std::size_t kLanes = 7;
/// Rounded to odd in f32: towards zero, and the last bit says whether anything was cut off, so that a following
/// rounding to a narrower format sees on which side of its halfway points the value lies.
TILEGYM_INLINE float to_odd(double x) {
  const float nearest = static_cast<float>(x);
  std::uint32_t bits;
  __builtin_memcpy(&bits, &nearest, sizeof bits);
  const double size = __builtin_fabs(x), rounded = __builtin_fabs(static_cast<double>(nearest));
  // Both comparisons are false for NaN, and for an infinity that was one before.
  bits -= rounded > size;
  bits |= (rounded > size) | (rounded < size);
  float result;
  __builtin_memcpy(&result, &bits, sizeof result);
  return result;
}
/// Integers up to 2^53 are doubles; of larger ones the lowest bits, far below the last of an f32, are gathered in one.
TILEGYM_INLINE float to_odd(std::uint64_t x) {
  constexpr std::uint64_t kLow = 0x7ff;
  const std::uint64_t gathered = (x & ~kLow) | ((x & kLow) != 0 ? kLow + 1 : 0);
  return to_odd(static_cast<double>(x < (std::uint64_t{1} << 53) ? x : gathered));
}
TILEGYM_INLINE float to_odd(std::int64_t x) {
  const std::uint64_t size = x < 0 ? 0 - static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
  const float magnitude = to_odd(size);
  return x < 0 ? -magnitude : magnitude;
}
TILEGYM_INLINE float to_odd(std::int32_t x) {
  return to_odd(static_cast<double>(x));
}
TILEGYM_INLINE float to_odd(std::uint32_t x) {
  return to_odd(static_cast<double>(x));
}

template <class From, std::size_t kScalars>
void convert_to_odd(void* dst, const void* a, const void*, const void*, std::size_t lanes) noexcept {
  const Lanes<From, kScalars != 0> x(a, dst, lanes);
  auto* out = static_cast<float*>(dst);
  for (std::size_t i = 0; i < lanes; ++i) out[i] = to_odd(x[i]);
}

template <class From>
StripFn odd_conversion(const StripKey& key) noexcept {
  return (key.scalar_operands & 1U) != 0 ? convert_to_odd<From, 1> : convert_to_odd<From, 0>;
}

inline StripFn conversion_to_odd(const StripKey& key) noexcept {
  const bool is_signed = key.signedness == Signedness::signed_;
  switch (key.from) {
    case Lane::f64:
      return odd_conversion<double>(key);
    case Lane::i32:
      return is_signed ? odd_conversion<std::int32_t>(key) : odd_conversion<std::uint32_t>(key);
    case Lane::i64:
      return is_signed ? odd_conversion<std::int64_t>(key) : odd_conversion<std::uint64_t>(key);
    default:
      return nullptr;
  }
}

inline constexpr bool is_float(Lane lane) {
  return lane == Lane::f32 || lane == Lane::f64;
}

/// Signedness matters when an integer is widened or meets a float; other pairs have one kernel.
template <Lane kTo, Lane kFrom>
StripFn conversion(const StripKey& key) noexcept {
  constexpr bool kMatters = kTo != kFrom && !(is_float(kTo) && is_float(kFrom));
  const bool scalar = (key.scalar_operands & 1U) != 0;
  if (kMatters && key.signedness == Signedness::unsigned_) {
    return scalar ? convert_strip<kTo, kFrom, !kMatters, 1> : convert_strip<kTo, kFrom, !kMatters, 0>;
  }
  return scalar ? convert_strip<kTo, kFrom, true, 1> : convert_strip<kTo, kFrom, true, 0>;
}

template <Lane kTo>
StripFn conversion_to(const StripKey& key) noexcept {
  using enum Lane;
  if constexpr (kTo == f32) {
    const bool narrow = key.element != tile_ir::ElementType::f32;
    if (const StripFn odd = narrow ? conversion_to_odd(key) : nullptr; odd != nullptr) return odd;
  }
  constexpr StripFn (*kFrom[])(const StripKey&) noexcept = {
      conversion<kTo, f32>, conversion<kTo, f64>, conversion<kTo, i8>,  conversion<kTo, i16>,
      conversion<kTo, i32>, conversion<kTo, i64>, conversion<kTo, mask>};
  return kFrom[static_cast<std::size_t>(key.from)](key);
}
