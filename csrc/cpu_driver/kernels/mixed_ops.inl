// Kernels whose result is not as wide as their operands. Plain loops over lanes: the compiler vectorises changes of
// width well.

/// One value for all lanes, or a strip.
template <class T, bool kScalar>
class Lanes {
 public:
  explicit Lanes(const void* from) : from_(static_cast<const T*>(from)) {}
  /// For results wider than the operand: writing them over it would destroy lanes not yet read, so these are copied.
  Lanes(const void* from, const void* dst, std::size_t lanes) : Lanes(from) {
    if (from != dst) return;
    __builtin_memcpy(copy_, from_, lanes * sizeof(T));
    from_ = copy_;
  }
  TILEGYM_INLINE T operator[](std::size_t i) const { return from_[i]; }

 private:
  const T* from_;
  alignas(kVectorBytes) T copy_[kStripLanes];
};
template <class T>
class Lanes<T, true> {
 public:
  explicit Lanes(const void* from) : value_(*static_cast<const T*>(from)) {}
  Lanes(const void* from, const void*, std::size_t) : Lanes(from) {}
  TILEGYM_INLINE T operator[](std::size_t) const { return value_; }

 private:
  T value_;
};

/// Lanes rounded up to whole 64-byte vectors of the widest type: a loop over them needs no scalar rest.
template <class T>
TILEGYM_INLINE std::size_t padded(std::size_t lanes) {
  constexpr std::size_t kStep = kVectorBytes / sizeof(T);
  return (lanes + kStep - 1) / kStep * kStep;
}

template <class T, Predicate kPredicate, bool kOrdered>
TILEGYM_INLINE bool holds(T x, T y) {
  using enum Predicate;
  constexpr bool kQuiet = std::is_floating_point_v<T> && kPredicate == (kOrdered ? not_equal : equal);
  if constexpr (kQuiet) return __builtin_islessgreater(x, y) == kOrdered;
  if constexpr (kPredicate == equal) return x == y;
  if constexpr (kPredicate == not_equal) return x != y;
  if constexpr (kPredicate == less) return kOrdered ? x < y : !(x >= y);
  if constexpr (kPredicate == less_equal) return kOrdered ? x <= y : !(x > y);
  if constexpr (kPredicate == greater) return kOrdered ? x > y : !(x <= y);
  return kOrdered ? x >= y : !(x < y);
}

/// Never wider than its operands, so that writing over one of them is safe.
template <class T, Predicate kPredicate, bool kOrdered, std::size_t kScalars>
void compare_strip(void* dst, const void* a, const void* b, const void*, std::size_t lanes) noexcept {
  auto* out = static_cast<std::uint8_t*>(dst);
  const Lanes<T, (kScalars & 1U) != 0> x(a);
  const Lanes<T, (kScalars & 2U) != 0> y(b);
  const std::size_t end = padded<T>(lanes);
  TILEGYM_LANES_INDEPENDENT
  for (std::size_t i = 0; i < end; ++i) out[i] = holds<T, kPredicate, kOrdered>(x[i], y[i]);
}

template <class T, std::size_t kScalars>
void select_strip(void* dst, const void* a, const void* b, const void* c, std::size_t lanes) noexcept {
  auto* out = static_cast<T*>(dst);
  const Lanes<std::uint8_t, (kScalars & 1U) != 0> mask(a, dst, lanes);
  const Lanes<T, (kScalars & 2U) != 0> x(b);
  const Lanes<T, (kScalars & 4U) != 0> y(c);
  const std::size_t end = padded<T>(lanes);
  TILEGYM_LANES_INDEPENDENT
  for (std::size_t i = 0; i < end; ++i) {
    const T yes = x[i], no = y[i];
    out[i] = mask[i] != 0 ? yes : no;
  }
}

/// dst[i] = a + b * i, both one value.
template <class T>
void ramp_strip(void* dst, const void* a, const void* b, const void*, std::size_t lanes) noexcept {
  auto* out = static_cast<T*>(dst);
  const T start = *static_cast<const T*>(a), step = *static_cast<const T*>(b);
  for (std::size_t i = 0; i < lanes; ++i) out[i] = static_cast<T>(start + step * static_cast<T>(i));
}
