// How operands in memory become what the micro-kernels multiply. An operand type says: Code, the element in memory;
// Value, the factor; kWidens, whether rows of A need a copy; steps(k), values along k; and how to pack.

inline constexpr std::int64_t rounded_up(std::int64_t value, std::int64_t step) {
  return (value + step - 1) / step * step;
}

/// Floats. Direct reads values as they are, a codec widens them.
template <class T>
struct Direct {
  using Code = T;
  using Value = T;
  static constexpr bool kWidens = false;
  TILEGYM_INLINE static Vec<T> widen(const T* from) { return load(from); }
};
template <class Codec>
struct Widened {
  using Code = typename Codec::Code;
  using Value = float;
  static constexpr bool kWidens = true;
  TILEGYM_INLINE static Vec<float> widen(const Code* from) { return Codec::widen(from); }
};

/// f32 in memory, rounded to tf32 on the way; rows of A are copied too, or each would be rounded once per panel of B.
struct RoundedToTf32 {
  using Code = float;
  using Value = float;
  static constexpr bool kWidens = true;
  TILEGYM_INLINE static Vec<float> widen(const Code* from) {
    return round_to<Tf32, Rounding::nearest_even>(load(from));
  }
};

template <class Source>
struct FloatOperand : Source {
  using Code = typename Source::Code;
  using Value = typename Source::Value;
  static constexpr std::int64_t kStep = kCount<Value>;
  static constexpr std::int64_t steps(std::int64_t k) { return k; }

  /// `width` values; the last vector is filled with zeros, and nothing past `width` is read.
  static void pack_row(Value* to, const Code* from, std::int64_t width) {
    std::int64_t i = 0;
    for (; i + kStep <= width; i += kStep) store(to + i, Source::widen(from + i));
    if (i == width) return;
    Code rest[kStep] = {};
    __builtin_memcpy(rest, from + i, static_cast<std::size_t>(width - i) * sizeof(Code));
    store(to + i, Source::widen(rest));
  }

  static void pack_panel(Value* panel, const Code* from, std::int64_t stride, std::int64_t k, std::int64_t width) {
    for (std::int64_t p = 0; p < k; ++p) pack_row(panel + p * kPanel<Value>, from + p * stride, width);
  }
};

/// 8-bit integers of either signedness: a value is two neighbours along k as 16-bit halves, multiplied and added by one
/// instruction without overflow.
template <class A, class B>
struct PairOperand {
  using Code = std::uint8_t;
  using Value = std::uint32_t;
  static constexpr bool kWidens = true;
  static constexpr std::int64_t steps(std::int64_t k) { return (k + 1) / 2; }

  TILEGYM_INLINE static Value pair(int first, int second) {
    return (static_cast<Value>(first) & 0xffffU) | (static_cast<Value>(second) << 16);
  }

  static void pack_row(Value* to, const Code* from, std::int64_t k) {
    for (std::int64_t p = 0; p < k / 2; ++p) {
      to[p] = pair(static_cast<A>(from[2 * p]), static_cast<A>(from[2 * p + 1]));
    }
    if (k % 2 != 0) to[k / 2] = pair(static_cast<A>(from[k - 1]), 0);
  }

  static void pack_panel(Value* panel, const Code* from, std::int64_t stride, std::int64_t k, std::int64_t width) {
    for (std::int64_t p = 0; p < k; p += 2, panel += kPanel<Value>, from += 2 * stride) {
      const Code* second = p + 1 < k ? from + stride : from;
      const int keep = p + 1 < k ? 1 : 0;
      for (std::int64_t j = 0; j < width; ++j) {
        panel[j] = pair(static_cast<B>(from[j]), static_cast<B>(second[j]) * keep);
      }
      for (std::int64_t j = width; j < kPanel<Value>; ++j) panel[j] = 0;
    }
  }
};
