// Scans for one instruction set. Before this, the including source defines kBytes, Vec<T> of float and double, Mask<T>
// of their lanes with `|`, Half (f16), and for both T: greater(a, b), less_or_equal(a, b), signed_zeros(error, a, b),
// any(), all(), count(), lesser(), larger() and load<T>(address) of every type that fits into T.

// Bytes by which the scan fetches ahead of itself: with less, or left to the processor, memory waits for arithmetic.
constexpr std::size_t kAhead = 4096;

template <class T>
constexpr int kLanes = kBytes / static_cast<int>(sizeof(T));

/// Pairs are compared as float where both types fit into it, else as double.
template <class T>
struct Limits;

template <>
struct Limits<double> {
  using Bits = std::int64_t;
  static constexpr Bits kExponent = 0x7FF0000000000000;
  static constexpr Bits kMagnitude = std::numeric_limits<Bits>::max();
  static double shrunk(double tolerance) { return tolerance; }
  static double least(double tolerance) { return tolerance; }
};

// A float's tolerance is lowered by more than the roundings can add; what then seems to be outside is judged again.
template <>
struct Limits<float> {
  using Bits = std::int32_t;
  static constexpr Bits kExponent = 0x7F800000;
  static constexpr Bits kMagnitude = std::numeric_limits<Bits>::max();
  static float shrunk(double tolerance) {
    constexpr double kHighest = std::numeric_limits<float>::max();
    return static_cast<float>((tolerance < kHighest ? tolerance : kHighest) * (1 - 0x1p-20));
  }
  static float least(double tolerance) { return shrunk(tolerance) - 0x1p-140F; }
};

template <class T>
using BitsOf = Vector<typename Limits<T>::Bits, kBytes>;

/// What a scan remembers besides its sums. A threshold is passed before anything is divided.
template <class T>
struct Thresholds {
  Vec<T> absolute;
  Vec<T> relative;
  Vec<T> ulps;  ///< in units of the power of two below the number

  Thresholds(const Maxima& maxima, const UlpUnit& unit) {
    const Vec<T> zero{};
    absolute = zero + static_cast<T>(maxima.absolute);
    relative = zero + static_cast<T>(maxima.relative);
    ulps = zero + static_cast<T>(maxima.ulps / unit.scale);
  }
};

/// Raises the maxima by lanes of which one at least passes a threshold.
template <class T>
[[gnu::noinline]] Thresholds<T> raised(Vec<T> actual, Vec<T> expected, const UlpUnit& unit, Maxima& maxima) {
  for (int lane = 0; lane < kLanes<T>; ++lane) {
    const auto reference = static_cast<double>(expected[lane]);
    const double error = distance(static_cast<double>(actual[lane]), reference);
    if (!(error > 0)) continue;
    const double ratio = relative_error(error, reference);
    const double ulps = ulp_error(error, reference, unit);
    if (error > maxima.absolute) maxima.absolute = error;
    if (ratio > maxima.relative) maxima.relative = ratio;
    if (ulps > maxima.ulps) maxima.ulps = ulps;
  }
  return Thresholds<T>(maxima, unit);
}

template <class T, class A, class E>
bool scan(const void* actual, const void* expected, std::size_t count_of, const Tolerance& tolerance,
          const UlpUnit& unit, Maxima& maxima, StripSums& sums) noexcept {
  constexpr std::size_t kStep = kLanes<T>;
  constexpr std::size_t kGroup = 32 * kStep;  // floats are summed in doubles from group to group
  const auto* a = static_cast<const A*>(actual);
  const auto* e = static_cast<const E*>(expected);
  const Vec<T> zero{};
  const Vec<T> rtol = zero + Limits<T>::shrunk(tolerance.rtol);
  const Vec<T> atol = zero + Limits<T>::least(tolerance.atol);
  const Vec<T> finite = zero + std::numeric_limits<T>::max();
  const Vec<T> floor = zero + static_cast<T>(unit.floor);
  Maxima reached = maxima;
  Thresholds<T> thresholds(reached, unit);
  double total = 0;
  std::int64_t zeros = 0;
  Vec<T> sum{};
  bool inside = true;

  const auto judge = [&](Vec<T> x, Vec<T> y) __attribute__((always_inline)) {
    const auto error = (Vec<T>)((BitsOf<T>)(x - y) & Limits<T>::kMagnitude);
    const auto reference = (Vec<T>)((BitsOf<T>)y & Limits<T>::kMagnitude);
    const Vec<T> power = larger<T>((Vec<T>)((BitsOf<T>)y & Limits<T>::kExponent), floor);
    const Vec<T> bound = lesser<T>(larger<T>(atol + rtol * reference, zero), finite);
    sum += error;
    const Mask<T> matching = less_or_equal<T>(error, bound);
    const Mask<T> zero_pairs = signed_zeros<T>(error, x, y);
    const Mask<T> above = greater<T>(error, thresholds.absolute) | greater<T>(error, thresholds.relative * reference) |
                          greater<T>(error, thresholds.ulps * power);
    // One test for everything that is rare.
    if (any<T>(above | zero_pairs | not_<T>(matching))) [[unlikely]] {
      inside &= all<T>(matching);
      zeros += count<T>(zero_pairs);
      if (any<T>(above)) thresholds = raised<T>(x, y, unit, reached);
    }
  };
  const auto close_group = [&] {
    for (int lane = 0; lane < kLanes<T>; ++lane) total += static_cast<double>(sum[lane]);
    sum = zero;
  };

  std::size_t i = 0;
  for (; i + kGroup <= count_of && inside; i += kGroup) {
    for (std::size_t j = i; j < i + kGroup; j += kStep) {
      // Past the end of the strip lies the next one, as a rule; an address that is not there is ignored.
      __builtin_prefetch(reinterpret_cast<const char*>(a + j) + kAhead);
      __builtin_prefetch(reinterpret_cast<const char*>(e + j) + kAhead);
      judge(load<T>(a + j), load<T>(e + j));
    }
    close_group();
  }
  for (; i + kStep <= count_of && inside; i += kStep) judge(load<T>(a + i), load<T>(e + i));
  if (i < count_of && inside) {
    // Pairs of zeros fill the last vector up.
    A last_actual[kStep] = {};
    E last_expected[kStep] = {};
    std::memcpy(last_actual, a + i, (count_of - i) * sizeof(A));
    std::memcpy(last_expected, e + i, (count_of - i) * sizeof(E));
    judge(load<T>(last_actual), load<T>(last_expected));
  }
  if (!inside) return false;
  close_group();
  maxima = reached;
  sums.error += total;
  sums.signed_zeros += zeros;
  return true;
}

template <class A>
ScanFn choose_for(ElementType expected) noexcept {
  using T = std::conditional_t<sizeof(A) == 8, double, float>;
  if (expected == ElementType::f64) return scan<double, A, double>;
  if (expected == ElementType::f32) return scan<T, A, float>;
  if constexpr (std::is_same_v<A, Half>) {
    if (expected == ElementType::f16) return scan<T, Half, Half>;
  }
  if constexpr (std::is_same_v<A, Brain>) {
    if (expected == ElementType::bf16) return scan<T, Brain, Brain>;
  }
  return nullptr;
}

ScanFn choose(ElementType actual, ElementType expected) noexcept {
  switch (actual) {
    case ElementType::f64:
      return choose_for<double>(expected);
    case ElementType::f32:
      return choose_for<float>(expected);
    case ElementType::bf16:
      return choose_for<Brain>(expected);
    case ElementType::f16:
      return choose_for<Half>(expected);
    default:
      return nullptr;
  }
}
