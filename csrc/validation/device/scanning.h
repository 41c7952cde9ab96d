#pragma once

#include "validation/device/judging.h"

/// Strips at the speed of memory. A strip in which every pair is finite and matches, which is the rule, is done with
/// after its scan; any other one is judged pair by pair.
namespace tilegym::validation::device {

template <class T>
struct Format;

template <>
struct Format<float> {
  using Bits = std::uint32_t;
  static constexpr Bits kExponent = 0x7F800000U;
  static constexpr Bits kLeast = 0x00800000U;
  /// Above this the inverse of a number is subnormal, and so is the unit that ulps are divided by.
  static constexpr Bits kMost = 0x7E800000U;
  static constexpr Bits kTwiceBias = 0x7F000000U;
  /// Tolerances are lowered by more than roundings can add; what then seems to be outside is judged again.
  static constexpr float kShrink = 1 - 0x1p-20F;
  static constexpr double kHighest = 3.4028234663852886e38;
  TILEGYM_DEVICE static float infinity() { return bits_as_float(kExponent); }
};

template <>
struct Format<double> {
  using Bits = std::uint64_t;
  static constexpr Bits kExponent = 0x7FF0000000000000U;
  static constexpr Bits kLeast = 0x0010000000000000U;
  static constexpr Bits kMost = 0x7FD0000000000000U;
  static constexpr Bits kTwiceBias = 0x7FE0000000000000U;
  static constexpr double kShrink = 1 - 0x1p-50;
  static constexpr double kHighest = 1.7976931348623157e308;
  TILEGYM_DEVICE static double infinity() { return bits_as_double(kExponent); }
};

TILEGYM_DEVICE float float_of(std::uint32_t bits) {
  return bits_as_float(bits);
}
TILEGYM_DEVICE double float_of(std::uint64_t bits) {
  return bits_as_double(bits);
}
TILEGYM_DEVICE float absolute_of(float value) {
  return bits_as_float(bits_of(value) & 0x7FFFFFFFU);
}
TILEGYM_DEVICE double absolute_of(double value) {
  return bits_as_double(bits_of(value) & 0x7FFFFFFFFFFFFFFFU);
}

template <class T>
TILEGYM_DEVICE T larger(T a, T b) {
  return a > b ? a : b;  // b where a is a NaN
}

/// Tolerance and unit as the scan compares them.
template <class T>
struct Bounds {
  T rtol;
  T atol;
  typename Format<T>::Bits floor;

  TILEGYM_DEVICE explicit Bounds(const Job& job)
      : rtol(shrunk(job.tolerance.rtol)),
        atol(shrunk(job.tolerance.atol)),
        floor(bits_of(static_cast<T>(job.unit.floor))) {}
  TILEGYM_DEVICE static T shrunk(double tolerance) {
    const double most = tolerance < Format<T>::kHighest ? tolerance : Format<T>::kHighest;
    return static_cast<T>(most) * Format<T>::kShrink;
  }
};

/// What a lane has seen of a strip.
template <class T>
struct Seen {
  bool fine = true;
  T sum = 0;
  T absolute = 0;
  T relative = 0;
  T ulps = 0;  ///< in units of the power of two below the number
  std::int32_t signed_zeros = 0;

  TILEGYM_DEVICE void take(T actual, T expected, const Bounds<T>& bounds) {
    using Bits = typename Format<T>::Bits;
    const T error = absolute_of(actual - expected);
    const T reference = absolute_of(expected);
    const Bits bits = bits_of(reference);
    const bool same = error == 0;
    // Numbers too small or too large for the divisions below are judged; so is an infinity, whose error is not less.
    const bool usual = bits - Format<T>::kLeast < Format<T>::kMost - Format<T>::kLeast || bits == 0;
    const Bits power = bits & Format<T>::kExponent;
    const T units = error * float_of(Format<T>::kTwiceBias - (power > bounds.floor ? power : bounds.floor));
    const bool inside = same || error < multiply_add(bounds.rtol, reference, bounds.atol);
    // An overflow would hide which pair is the worst.
    const bool good = usual && inside && units < Format<T>::infinity() && take_ratio(error, reference);
    fine = fine && good;
    signed_zeros += same && bits_of(actual) != bits_of(expected) ? 1 : 0;
    sum += error;
    absolute = larger(error, absolute);
    ulps = larger(units, ulps);
  }

 private:
  /// Raises the largest relative error; false where it overflows. A float's only says which strip to measure.
  TILEGYM_DEVICE bool take_ratio(float error, float reference) {
    const float ratio = error * nearly_inverse(reference);
    relative = larger(ratio, relative);
    return ratio < Format<float>::infinity() || reference == 0;
  }
  // A division of doubles is slow, and what it gives is rarely the largest.
  TILEGYM_DEVICE bool take_ratio(double error, double reference) {
    if (error > relative * reference) relative = larger(error / reference, relative);
    return true;
  }
};

/// The strips with the highest values, for a lane.
struct BestOfLane {
  float value = 0;
  std::int64_t strip = 0;

  TILEGYM_DEVICE void take(float other, std::int64_t where) {
    if (other > value) {
      value = other;
      strip = where;
    }
  }
  /// Called by every lane. Thousands of warps meet at one place, so only those go there that can raise it.
  TILEGYM_DEVICE void add_to_totals(BestStrip* place) const {
    BestStrip best = value > 0 ? std::uint64_t{bits_of(value)} << 32 | ~static_cast<std::uint32_t>(strip) : 0;
    for (int distance = kLanes / 2; distance > 0; distance /= 2) {
      const BestStrip other = from_lane(best, distance);
      if (other > best) best = other;
    }
    if (lane_index() == 0 && best > published(place)) raise_to(place, best);
  }
};

/// What becomes of the maxima of strips. Floats are too coarse to be reported: the best strip is measured at the end.
template <class T>
struct Gathered;

template <>
struct Gathered<float> {
  BestOfLane absolute;
  BestOfLane relative;
  BestOfLane ulps;

  TILEGYM_DEVICE void begin(Seen<float>&) const {}
  TILEGYM_DEVICE void take(const Seen<float>& seen, std::int64_t strip) {
    absolute.take(seen.absolute, strip);
    relative.take(seen.relative, strip);
    ulps.take(seen.ulps, strip);
  }
  TILEGYM_DEVICE void add_to_totals(const Job& job) {
    absolute.add_to_totals(&job.totals->best_abs);
    relative.add_to_totals(&job.totals->best_rel);
    ulps.add_to_totals(&job.totals->best_ulp);
  }
};

template <>
struct Gathered<double> {
  ExactMaxima maxima;

  /// A ratio below the largest one before needs no division.
  TILEGYM_DEVICE void begin(Seen<double>& seen) const { seen.relative = maxima.relative; }
  TILEGYM_DEVICE void take(const Seen<double>& seen, std::int64_t) {
    maxima.absolute = larger(seen.absolute, maxima.absolute);
    maxima.relative = larger(seen.relative, maxima.relative);
    maxima.ulps = larger(seen.ulps, maxima.ulps);
  }
  TILEGYM_DEVICE void add_to_totals(const Job& job) {
    maxima.ulps *= job.unit.scale;
    maxima.add_to_totals(job);
  }
};

/// Pairs that lie side by side in both arrays, four a lane at a time.
template <class A, class E>
struct PackedPairs {
  using Value = float;
  struct alignas(4 * sizeof(A)) FourActual {
    A bits[4];
  };
  struct alignas(4 * sizeof(E)) FourExpected {
    E bits[4];
  };

  TILEGYM_DEVICE static void scan(const Job& job, std::int64_t strip, const Bounds<float>& bounds, Seen<float>& seen) {
    const std::int64_t first = strip * kStrip + 4 * lane_index();
    if (first - 4 * lane_index() + kStrip > job.size) return scan_tail(job, strip, bounds, seen);
    constexpr int kAtATime = 4;
    for (int i = 0; i < kStrip / (4 * kLanes); i += kAtATime) {
      FourActual actual[kAtATime];
      FourExpected expected[kAtATime];
      TILEGYM_UNROLL
      for (int j = 0; j < kAtATime; ++j) {
        const std::int64_t position = first + (i + j) * 4 * kLanes;
        actual[j] = load_bits<FourActual>(job.actual.data + position * static_cast<std::int64_t>(sizeof(A)));
        expected[j] = load_bits<FourExpected>(job.expected.data + position * static_cast<std::int64_t>(sizeof(E)));
      }
      TILEGYM_UNROLL
      for (int j = 0; j < kAtATime; ++j) {
        TILEGYM_UNROLL
        for (int k = 0; k < 4; ++k) {
          seen.take(value_of(job.actual.type, actual[j].bits[k]), value_of(job.expected.type, expected[j].bits[k]),
                    bounds);
        }
      }
    }
  }

 private:
  TILEGYM_DEVICE static void scan_tail(const Job& job, std::int64_t strip, const Bounds<float>& bounds,
                                       Seen<float>& seen) {
    each_position(job, strip, [&](std::int64_t position) {
      seen.take(
          value_of(job.actual.type, load_bits<A>(job.actual.data + position * static_cast<std::int64_t>(sizeof(A)))),
          value_of(job.expected.type,
                   load_bits<E>(job.expected.data + position * static_cast<std::int64_t>(sizeof(E)))),
          bounds);
    });
  }
};

/// Pairs anywhere.
template <class T>
struct AnyPairs {
  using Value = T;
  TILEGYM_DEVICE static void scan(const Job& job, std::int64_t strip, const Bounds<T>& bounds, Seen<T>& seen) {
    each_position(job, strip, [&](std::int64_t position) {
      const Two<T> two = read_pair<T>(job, place_of(job, position));
      seen.take(two.actual, two.expected, bounds);
    });
  }
};

/// Adds the samples of a strip to a thread block's histogram.
template <class Value>
TILEGYM_DEVICE void sample_strip(const Job& job, std::int64_t strip, std::uint32_t* buckets) {
  const std::int64_t begin = strip * kStrip;
  const std::int64_t end = begin + kStrip < job.size ? begin + kStrip : job.size;
  const std::int64_t past = job.size <= 0xFFFFFFFFLL
                                ? static_cast<std::uint32_t>(begin) % static_cast<std::uint32_t>(job.sample_stride)
                                : begin % job.sample_stride;
  std::int64_t position = begin + (past == 0 ? 0 : job.sample_stride - past) + lane_index() * job.sample_stride;
  for (; position < end; position += kLanes * job.sample_stride) {
    const Two<Value> two = read_pair<Value>(job, place_of(job, position));
    if (two.actual != two.actual || two.expected != two.expected) continue;
    const double error = distance(two.actual, two.expected);
    add_to(&buckets[bucket_of(error, static_cast<std::int64_t>(bits_of(error)))], std::uint32_t{1});
  }
}

/// Scans a strip, and judges it where it is not what it should be. Returns this lane's sum of errors.
template <class Pairs>
TILEGYM_DEVICE double handle_strip(const Job& job, std::int64_t strip, const Bounds<typename Pairs::Value>& bounds,
                                   Gathered<typename Pairs::Value>& gathered) {
  Seen<typename Pairs::Value> seen;
  gathered.begin(seen);
  if (job.blocks == 0) Pairs::scan(job, strip, bounds, seen);
  if (job.blocks > 0 || !every_lane(seen.fine)) return judge_strip<double>(job, strip);
  gathered.take(seen, strip);
  const std::int32_t zeros = sum_over_lanes(seen.signed_zeros);
  if (zeros != 0 && lane_index() == 0) add_to(&job.totals->counts.signed_zeros, std::int64_t{zeros});
  return static_cast<double>(seen.sum);
}

/// Integers: nothing needs to be known of a strip of equal pairs.
TILEGYM_DEVICE double handle_integers(const Job& job, std::int64_t strip) {
  bool equal = true;
  each_position(job, strip, [&](std::int64_t position) {
    const Two<std::int64_t> two = read_pair<std::int64_t>(job, place_of(job, position));
    equal = equal && two.actual == two.expected;
  });
  return every_lane(equal) ? 0.0 : judge_strip<std::int64_t>(job, strip);
}

TILEGYM_DEVICE std::int64_t strips_of(const Job& job) {
  return (job.size + kStrip - 1) / kStrip;
}

/// Sums what every warp has found, in an order that no schedule changes, and measures the strips with the best floats.
TILEGYM_DEVICE void finish(const Job& job) {
  TILEGYM_SHARED double parts[kWarps];
  double sum = 0;
  const int thread = warp_index() * kLanes + lane_index();
  for (int warp = thread; warp < block_count() * kWarps; warp += kWarps * kLanes) sum += published(&job.sums[warp]);
  sum = sum_over_lanes(sum);
  if (lane_index() == 0) parts[warp_index()] = sum;
  wait_for_block();
  if (thread == 0) {
    double total = 0;
    for (const double part : parts) total += part;
    job.totals->sum = total;
  }
  const BestStrip* const places[] = {&job.totals->best_abs, &job.totals->best_rel, &job.totals->best_ulp};
  for (const BestStrip* best : places) {
    const BestStrip found = published(best);
    if (found != 0) measure_strip<double>(job, static_cast<std::int64_t>(~static_cast<std::uint32_t>(found)));
  }
}

/// A kernel's body: its warps take strips in turn and call at_end() when there are no more.
template <class Value, class Handle, class AtEnd>
TILEGYM_DEVICE void for_strips(const Job& job, const Handle& handle, const AtEnd& at_end) {
  TILEGYM_SHARED std::uint32_t buckets[kBuckets];
  TILEGYM_SHARED bool last;
  const int thread = warp_index() * kLanes + lane_index();
  for (int i = thread; i < kBuckets; i += kWarps * kLanes) buckets[i] = 0;
  wait_for_block();
  const int warp = block_index() * kWarps + warp_index();
  double sum = 0;
  for (std::int64_t strip = warp; strip < strips_of(job); strip += block_count() * kWarps) {
    sum += handle(strip);
    sample_strip<Value>(job, strip, buckets);
  }
  sum = sum_over_lanes(sum);
  if (lane_index() == 0) job.sums[warp] = sum;
  at_end();
  wait_for_block();
  for (int i = thread; i < kBuckets; i += kWarps * kLanes) {
    if (buckets[i] != 0) add_to(&job.totals->buckets[i], buckets[i]);
  }
  publish();
  wait_for_block();
  if (thread == 0)
    last = add_to(&job.totals->blocks_done, std::uint32_t{1}) + 1 == static_cast<std::uint32_t>(block_count());
  wait_for_block();
  if (last) finish(job);
}

template <class Pairs>
TILEGYM_DEVICE void compare_floats(const Job& job) {
  using T = typename Pairs::Value;
  const Bounds<T> bounds(job);
  Gathered<T> gathered;
  for_strips<double>(
      job, [&](std::int64_t strip) { return handle_strip<Pairs>(job, strip, bounds, gathered); },
      [&] { gathered.add_to_totals(job); });
}

TILEGYM_DEVICE void compare_integers(const Job& job) {
  for_strips<std::int64_t>(job, [&](std::int64_t strip) { return handle_integers(job, strip); }, [] {});
}

/// Writes the pairs of the wanted strips side by side, a strip each thread block.
template <class Value>
TILEGYM_DEVICE void fetch(const Job& job) {
  const std::int64_t first = job.wanted[block_index()] * kStrip;
  auto* out = static_cast<Two<Value>*>(job.fetched) + std::int64_t{block_index()} * kStrip;
  for (int i = warp_index() * kLanes + lane_index(); i < kStrip; i += kWarps * kLanes) {
    if (first + i < job.size) out[i] = read_pair<Value>(job, place_of(job, first + i));
  }
}

}  // namespace tilegym::validation::device
