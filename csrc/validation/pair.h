#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "validation/compare.h"

/// What one pair of elements says. The scan of strips computes the same with vectors.
namespace tilegym::validation {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// One unit in the last place of a format: spacing at x is max(2^exponent(x), floor) / scale.
struct UlpUnit {
  double floor = 1;  ///< smallest normal number
  double scale = 1;  ///< two to the number of mantissa bits
};

/// The unit of an element type; 1 everywhere for integers.
[[nodiscard]] UlpUnit ulp_unit(ElementType type) noexcept;

struct Pair {
  bool nan_in_actual = false;
  bool nan_in_expected = false;
  bool matches = false;
  double error = 0;  ///< 0 with a NaN
  double relative = 0;
  double ulps = 0;

  [[nodiscard]] bool has_nan() const noexcept { return nan_in_actual || nan_in_expected; }
};

/// Distance of two numbers, neither a NaN. Equal infinities are 0 apart.
inline double distance(double actual, double expected) noexcept {
  return actual == expected ? 0.0 : std::fabs(actual - expected);
}

inline double distance(std::int64_t actual, std::int64_t expected) noexcept {
  const auto high = static_cast<std::uint64_t>(actual > expected ? actual : expected);
  const auto low = static_cast<std::uint64_t>(actual > expected ? expected : actual);
  return static_cast<double>(high - low);  // the difference of two int64 fits without a sign
}

inline double relative_error(double error, double expected) noexcept {
  if (error == 0) return 0;
  return std::isfinite(expected) ? error / std::fabs(expected) : kInfinity;
}

/// Precondition: expected is not a NaN.
inline double ulp_error(double error, double expected, const UlpUnit& unit) noexcept {
  if (error == 0 || !std::isfinite(expected)) return error;
  int exponent = 0;
  std::frexp(expected, &exponent);  // in [0.5, 1)
  const double power = expected == 0 ? 0 : std::ldexp(1.0, exponent - 1);
  return error / std::fmax(power, unit.floor) * unit.scale;
}

/// rtol * infinity would let any number pass for an infinity, hence the finite error.
inline bool within(double error, double expected, const Tolerance& tolerance) noexcept {
  return error == 0 || (std::isfinite(error) && error <= tolerance.atol + tolerance.rtol * std::fabs(expected));
}

template <class Value>
Pair judge(Value actual, Value expected, const Tolerance& tolerance, const UlpUnit& unit) noexcept {
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

}  // namespace tilegym::validation
