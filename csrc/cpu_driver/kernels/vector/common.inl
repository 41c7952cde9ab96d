// Vectors of kBytes, on the compilers' vector extension; included inside the namespace of one instruction set, after
// kBytes. What the extension lacks (fused multiply-add, roots, rounding) is in the file of the instruction set.

/// Before a loop whose steps do not depend on one another even where results replace operands.
#ifdef __clang__
#define TILEGYM_LANES_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define TILEGYM_LANES_INDEPENDENT _Pragma("GCC ivdep")
#endif

#define TILEGYM_INLINE [[gnu::always_inline]] inline

template <class T>
struct VectorOf {
  typedef T type __attribute__((vector_size(kBytes)));
};
template <class T>
using Vec = typename VectorOf<T>::type;
template <class T>
inline constexpr std::size_t kCount = kBytes / sizeof(T);

template <std::size_t kSize>
struct IntOf;
template <>
struct IntOf<1> {
  using type = std::int8_t;
};
template <>
struct IntOf<2> {
  using type = std::int16_t;
};
template <>
struct IntOf<4> {
  using type = std::int32_t;
};
template <>
struct IntOf<8> {
  using type = std::int64_t;
};
/// Signed integer as wide as T: the element of T's bit patterns and of comparison results.
template <class T>
using Bits = typename IntOf<sizeof(T)>::type;

template <class T>
TILEGYM_INLINE Vec<T> load(const T* from) {
  Vec<T> v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

template <class T>
TILEGYM_INLINE void store(T* to, Vec<T> v) {
  __builtin_memcpy(to, &v, sizeof v);
}

/// Through the bit pattern: adding a float to a zero vector would turn -0 into +0.
template <class T>
TILEGYM_INLINE Vec<T> broadcast(T value) {
  Bits<T> bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  return (Vec<T>)(Vec<Bits<T>>{} + bits);
}

TILEGYM_INLINE Vec<std::int32_t> bits_of(Vec<float> v) {
  return (Vec<std::int32_t>)v;
}
TILEGYM_INLINE Vec<std::int64_t> bits_of(Vec<double> v) {
  return (Vec<std::int64_t>)v;
}
TILEGYM_INLINE Vec<float> as_float(Vec<std::int32_t> v) {
  return (Vec<float>)v;
}
TILEGYM_INLINE Vec<float> splat(float value) {
  return broadcast(value);
}
TILEGYM_INLINE Vec<std::int32_t> splat(std::int32_t value) {
  return broadcast(value);
}

// Constants, not calls: a call in this region would leave a copy of the library's function compiled for it.
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kQuietNan = std::numeric_limits<float>::quiet_NaN();
template <class T>
inline constexpr T kSmallestNormal = std::numeric_limits<T>::min();

/// Sum of bit patterns: a carry out of the top bit is no mistake.
TILEGYM_INLINE Vec<std::int32_t> add_bits(Vec<std::int32_t> a, Vec<std::int32_t> b) {
  return (Vec<std::int32_t>)((Vec<std::uint32_t>)a + (Vec<std::uint32_t>)b);
}

inline constexpr std::int32_t kSignBit = std::numeric_limits<std::int32_t>::min();
TILEGYM_INLINE Vec<float> magnitude(Vec<float> v) {
  return as_float(bits_of(v) & ~kSignBit);
}
TILEGYM_INLINE Vec<float> with_sign_of(Vec<float> v, Vec<float> sign) {
  return as_float(bits_of(v) | (bits_of(sign) & kSignBit));
}
TILEGYM_INLINE Vec<float> min_of(Vec<float> a, Vec<float> b) {
  return a < b ? a : b;
}
template <class T>
inline constexpr Bits<T> kSignBits = std::numeric_limits<Bits<T>>::min();

/// Adding it leaves the nearest integer, ties to even, in the low bits of the sum; for |v| <= 2^22.
inline constexpr float kIntegerShift = 0x1.8p23F;
TILEGYM_INLINE Vec<float> nearest(Vec<float> v) {
  return (v + kIntegerShift) - kIntegerShift;
}
