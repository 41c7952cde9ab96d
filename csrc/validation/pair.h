#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "validation/element.h"
#include "validation/tolerance.h"

#if defined(__CUDACC__)
#define TILEGYM_ANYWHERE __host__ __device__
#else
#define TILEGYM_ANYWHERE
#endif

/// What one pair of elements says, on the host and on a GPU. The scans compute the same for many pairs at once.
namespace tilegym::validation {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// One unit in the last place of a format: spacing at x is max(2^exponent(x), floor) / scale.
struct UlpUnit {
  double floor = 1;  ///< smallest normal number
  double scale = 1;  ///< two to the number of mantissa bits
};

/// The unit of an element type; 1 everywhere for integers.
[[nodiscard]] UlpUnit ulp_unit(ElementType type) noexcept;

/// How many pairs are of a kind, in the meaning of Comparison.
struct Counts {
  std::int64_t mismatches = 0;
  std::int64_t nan_in_both = 0;
  std::int64_t nan_in_actual = 0;
  std::int64_t nan_in_expected = 0;
  std::int64_t infinity_in_both = 0;
  std::int64_t infinity_in_actual = 0;
  std::int64_t infinity_in_expected = 0;
  std::int64_t signed_zeros = 0;
  std::int64_t unmeasured = 0;  ///< pairs whose error is not finite
};

struct Pair {
  bool nan_in_actual = false;
  bool nan_in_expected = false;
  bool matches = false;
  double error = 0;  ///< 0 with a NaN
  double relative = 0;
  double ulps = 0;

  [[nodiscard]] TILEGYM_ANYWHERE bool has_nan() const noexcept { return nan_in_actual || nan_in_expected; }
  /// A NaN ranks above every error, and the highest finite double stands for an infinite one.
  [[nodiscard]] TILEGYM_ANYWHERE double rank() const noexcept {
    constexpr double kHighest = 1.7976931348623157e308;
    return has_nan() ? kInfinity : error < kHighest ? error : kHighest;
  }
};

/// Distance of two numbers, neither a NaN. Equal infinities are 0 apart.
TILEGYM_ANYWHERE inline double distance(double actual, double expected) noexcept {
  return actual == expected ? 0.0 : std::fabs(actual - expected);
}

TILEGYM_ANYWHERE inline double distance(std::int64_t actual, std::int64_t expected) noexcept {
  const auto high = static_cast<std::uint64_t>(actual > expected ? actual : expected);
  const auto low = static_cast<std::uint64_t>(actual > expected ? expected : actual);
  return static_cast<double>(high - low);  // the difference of two int64 fits without a sign
}

TILEGYM_ANYWHERE inline double relative_error(double error, double expected) noexcept {
  if (error == 0) return 0;
  return std::isfinite(expected) ? error / std::fabs(expected) : kInfinity;
}

/// Precondition: expected is not a NaN.
TILEGYM_ANYWHERE inline double ulp_error(double error, double expected, const UlpUnit& unit) noexcept {
  if (error == 0 || !std::isfinite(expected)) return error;
  int exponent = 0;
  frexp(expected, &exponent);  // in [0.5, 1)
  const double power = expected == 0 ? 0 : ldexp(1.0, exponent - 1);
  return error / std::fmax(power, unit.floor) * unit.scale;
}

/// rtol * infinity would let any number pass for an infinity, hence the finite error.
TILEGYM_ANYWHERE inline bool within(double error, double expected, const Tolerance& tolerance) noexcept {
  return error == 0 || (std::isfinite(error) && error <= tolerance.atol + tolerance.rtol * std::fabs(expected));
}

template <class Value>
TILEGYM_ANYWHERE Pair judge(Value actual, Value expected, const Tolerance& tolerance, const UlpUnit& unit) noexcept {
  const auto reference = static_cast<double>(expected);
  Pair pair;
  pair.nan_in_actual = std::isnan(static_cast<double>(actual));
  pair.nan_in_expected = std::isnan(reference);
  if (pair.has_nan()) {
    pair.matches = tolerance.equal_nan && pair.nan_in_actual && pair.nan_in_expected;
    return pair;
  }
  pair.error = distance(actual, expected);
  pair.relative = relative_error(pair.error, reference);
  pair.ulps = ulp_error(pair.error, reference, unit);
  pair.matches = within(pair.error, reference, tolerance);
  return pair;
}

/// Counts a judged pair of numbers. Returns its error where that is finite, else 0.
TILEGYM_ANYWHERE inline double count(const Pair& pair, double actual, double expected, Counts& counts) noexcept {
  counts.mismatches += !pair.matches;
  counts.nan_in_both += pair.nan_in_actual && pair.nan_in_expected;
  counts.nan_in_actual += pair.nan_in_actual && !pair.nan_in_expected;
  counts.nan_in_expected += pair.nan_in_expected && !pair.nan_in_actual;
  const bool both = actual == expected;
  counts.infinity_in_both += both && std::isinf(actual);
  counts.infinity_in_actual += !both && std::isinf(actual);
  counts.infinity_in_expected += !both && std::isinf(expected);
  counts.signed_zeros += actual == 0 && expected == 0 && std::signbit(actual) != std::signbit(expected);
  if (!pair.has_nan() && std::isfinite(pair.error)) return pair.error;
  ++counts.unmeasured;
  return 0;
}

/// Buckets of a histogram of errors: one for zero, eight for each power of two from 2^-320 to 2^320, one for what is
/// not finite. Between them lie the exponent and three bits of the mantissa of a double.
inline constexpr int kBucketShift = 49;
inline constexpr std::int64_t kLowestBucket = std::int64_t{1023 - 320} << 3;
inline constexpr std::int64_t kErrorBuckets = 8 * 640;
inline constexpr std::int64_t kBuckets = kErrorBuckets + 2;

/// The bucket of an error whose bits are `bits`. A tiny error is no zero.
TILEGYM_ANYWHERE inline std::int64_t bucket_of(double error, std::int64_t bits) noexcept {
  if (error == 0) return 0;
  if (!std::isfinite(error)) return kBuckets - 1;
  const std::int64_t place = (bits >> kBucketShift) - kLowestBucket + 1;
  return place < 1 ? 1 : place > kErrorBuckets ? kErrorBuckets : place;
}

}  // namespace tilegym::validation
