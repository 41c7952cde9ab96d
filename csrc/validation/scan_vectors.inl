// Vectors in the compiler's own terms, for levels whose masks are vectors. Before this: kBytes; after it: bits() of a
// mask, larger(), lesser() and load<T>(const Half*).
template <class T>
using Vec = Vector<T, kBytes>;
template <class T>
using Mask = Vector<std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>, kBytes>;

template <class T>
int bits(Mask<T> mask);

template <class T>
TILEGYM_SCAN_INLINE Mask<T> greater(Vec<T> a, Vec<T> b) {
  return a > b;
}
template <class T>
TILEGYM_SCAN_INLINE Mask<T> less_or_equal(Vec<T> a, Vec<T> b) {
  return a <= b;
}
template <class T>
TILEGYM_SCAN_INLINE Mask<T> signed_zeros(Vec<T> error, Vec<T> a, Vec<T> b) {
  return (error == 0) & ((Mask<T>)a != (Mask<T>)b);
}
template <class T>
TILEGYM_SCAN_INLINE Mask<T> not_(Mask<T> mask) {
  return ~mask;
}
template <class T>
TILEGYM_SCAN_INLINE bool any(Mask<T> mask) {
  return bits<T>(mask) != 0;
}
template <class T>
TILEGYM_SCAN_INLINE bool all(Mask<T> mask) {
  return bits<T>(mask) == (1 << kBytes / sizeof(T)) - 1;
}
template <class T>
TILEGYM_SCAN_INLINE int count(Mask<T> mask) {
  return __builtin_popcount(static_cast<unsigned>(bits<T>(mask)));
}

template <class T>
TILEGYM_SCAN_INLINE Vec<T> load(const T* from) {
  Vec<T> v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
template <class T>
using FloatsFor = Vector<float, kBytes / sizeof(T) * sizeof(float)>;

template <class T>
TILEGYM_SCAN_INLINE Vec<T> load(const float* from)
  requires(sizeof(T) == 8)
{
  FloatsFor<T> v;
  std::memcpy(&v, from, sizeof v);
  return __builtin_convertvector(v, Vec<T>);
}
// A bf16 is the upper half of a float.
template <class T>
TILEGYM_SCAN_INLINE Vec<T> load(const Brain* from) {
  Vector<std::uint16_t, kBytes / sizeof(T) * 2> half;
  std::memcpy(&half, from, sizeof half);
  using Words = Vector<std::uint32_t, sizeof(FloatsFor<T>)>;
  const Words words = __builtin_convertvector(half, Words) << 16;
  return __builtin_convertvector((FloatsFor<T>)words, Vec<T>);
}
