// Loops over a strip. They run over whole vectors: the lanes past `lanes` are padding of the registers.

/// An operand of a strip kernel: one vector per step, or one value for all.
template <class T, bool kScalar>
class Operand {
 public:
  explicit Operand(const void* from) : from_(static_cast<const T*>(from)) {}
  TILEGYM_INLINE Vec<T> at(std::size_t i) const { return load(from_ + i); }

 private:
  const T* from_;
};
template <class T>
class Operand<T, true> {
 public:
  explicit Operand(const void* from) : value_(broadcast(*static_cast<const T*>(from))) {}
  TILEGYM_INLINE Vec<T> at(std::size_t) const { return value_; }

 private:
  Vec<T> value_;
};

/// Kept out of line: with_float_mode() must not have arithmetic moved across its mode switches.
template <class Op, unsigned kScalars>
[[gnu::noinline]] void strip(void* dst, const void* a, const void* b, const void* c, std::size_t lanes) noexcept {
  using T = typename Op::Value;
  T* out = static_cast<T*>(dst);
  const Operand<T, (kScalars & 1U) != 0> x(a);
  if constexpr (Op::kOperands == 1) {
    for (std::size_t i = 0; i < lanes; i += kCount<T>) store(out + i, Op::apply(x.at(i)));
  } else {
    const Operand<T, (kScalars & 2U) != 0> y(b);
    if constexpr (Op::kOperands == 2) {
      for (std::size_t i = 0; i < lanes; i += kCount<T>) store(out + i, Op::apply(x.at(i), y.at(i)));
    } else {
      const Operand<T, (kScalars & 4U) != 0> z(c);
      for (std::size_t i = 0; i < lanes; i += kCount<T>) store(out + i, Op::apply(x.at(i), y.at(i), z.at(i)));
    }
  }
}

/// Operations that vector units lack, lane by lane.
template <class Op, unsigned kScalars>
[[gnu::noinline]] void lane_strip(void* dst, const void* a, const void* b, const void*, std::size_t lanes) noexcept {
  using T = typename Op::Value;
  T* out = static_cast<T*>(dst);
  const T* x = static_cast<const T*>(a);
  const T* y = static_cast<const T*>(b);
  for (std::size_t i = 0; i < lanes; ++i) {
    const T first = x[(kScalars & 1U) != 0 ? 0 : i];
    if constexpr (Op::kOperands == 1) {
      out[i] = Op::kFunction(first);
    } else {
      out[i] = Op::kFunction(first, y[(kScalars & 2U) != 0 ? 0 : i]);
    }
  }
}

/// Such an operation: a function of one or two lanes.
template <class T, T (*kOne)(T) noexcept>
struct PerLane1 {
  using Value = T;
  static constexpr std::size_t kOperands = 1;
  static constexpr auto kFunction = kOne;
};
template <class T, T (*kTwo)(T, T) noexcept>
struct PerLane2 {
  using Value = T;
  static constexpr std::size_t kOperands = 2;
  static constexpr auto kFunction = kTwo;
};

template <class Op, unsigned kScalars>
constexpr StripFn kernel_of() noexcept {
  if constexpr (requires { Op::kFunction; }) {
    return lane_strip<Op, kScalars>;
  } else {
    return strip<Op, kScalars>;
  }
}

/// Control word of the float unit: exceptions masked, this rounding, subnormals flushed or kept.
template <Rounding kRounding, bool kFlush>
inline constexpr unsigned kFloatMode = 0x1f80U | (kFlush ? 0x8040U : 0U) |
                                       (kRounding == Rounding::negative_inf   ? 0x2000U
                                        : kRounding == Rounding::positive_inf ? 0x4000U
                                        : kRounding == Rounding::zero         ? 0x6000U
                                                                              : 0U);

template <StripFn kStrip, unsigned kMode>
void with_float_mode(void* dst, const void* a, const void* b, const void* c, std::size_t lanes) noexcept {
  const unsigned before = _mm_getcsr();
  _mm_setcsr(kMode);
  kStrip(dst, a, b, c, lanes);
  _mm_setcsr(before);
}

inline constexpr unsigned kDefaultMode = kFloatMode<Rounding::nearest_even, false>;

template <class Op, unsigned kMode, std::size_t... kScalars>
StripFn pick(unsigned scalars, std::index_sequence<kScalars...>) noexcept {
  if constexpr (kMode == kDefaultMode) {
    constexpr StripFn kKernels[] = {kernel_of<Op, kScalars>()...};
    return kKernels[scalars % sizeof...(kScalars)];
  } else {
    constexpr StripFn kKernels[] = {with_float_mode<kernel_of<Op, kScalars>(), kMode>...};
    return kKernels[scalars % sizeof...(kScalars)];
  }
}

/// The kernel of Op for the scalar operands of the key.
template <class Op, unsigned kMode = kDefaultMode>
StripFn by_scalars(const StripKey& key) noexcept {
  return pick<Op, kMode>(key.scalar_operands, std::make_index_sequence<std::size_t{1} << Op::kOperands>{});
}

/// Also for its flushing of subnormals, left to the float unit.
template <class Op, Rounding kRounding = Rounding::nearest_even>
StripFn by_flush(const StripKey& key) noexcept {
  return key.flush_to_zero ? by_scalars<Op, kFloatMode<kRounding, true>>(key)
                           : by_scalars<Op, kFloatMode<kRounding, false>>(key);
}

/// Also for its rounding; approx and full get the nearest value, which is inside their error bounds.
template <class Op>
StripFn by_rounding(const StripKey& key) noexcept {
  constexpr StripFn (*kModes[])(const StripKey&) noexcept = {by_flush<Op>, by_flush<Op, Rounding::zero>,
                                                             by_flush<Op, Rounding::negative_inf>,
                                                             by_flush<Op, Rounding::positive_inf>};
  const auto mode = static_cast<std::size_t>(key.rounding);
  return kModes[mode < 4 ? mode : 0](key);
}
