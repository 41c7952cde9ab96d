#pragma once

#include <map>

#include "cpu_driver/kernels/support.h"

namespace tilegym::cpu::testing {

/// A narrow float format from its definition: sign, exponent with bias, mantissa. Independent of the kernels' bit
/// tricks.
struct Format {
  ElementType element;
  int bits;
  int mantissa;
  int bias;
  bool has_infinity;  ///< the top exponent holds infinity and NaN; otherwise at most the all-ones code is a NaN
  bool has_nan;

  /// Value of a code.
  [[nodiscard]] double decode(unsigned code) const {
    const unsigned magnitude = code & ((1U << (bits - 1)) - 1), fraction = magnitude & ((1U << mantissa) - 1);
    const int exponent = static_cast<int>(magnitude >> mantissa), top = (1 << (bits - 1 - mantissa)) - 1;
    const double sign = code >> (bits - 1) != 0 ? -1 : 1;
    if (has_infinity && exponent == top) return fraction != 0 ? NAN : sign * INFINITY;
    if (!has_infinity && has_nan && magnitude == (1U << (bits - 1)) - 1) return NAN;
    if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - mantissa);
    return sign * std::ldexp(1.0 + std::ldexp(fraction, -mantissa), exponent - bias);
  }
  [[nodiscard]] unsigned codes() const { return 1U << bits; }
};

inline constexpr Format kFormats[] = {
    {ElementType::f16, 16, 10, 15, true, true},     {ElementType::bf16, 16, 7, 127, true, true},
    {ElementType::f8e5m2, 8, 2, 15, true, true},    {ElementType::f8e4m3fn, 8, 3, 7, false, true},
    {ElementType::f4e2m1fn, 4, 1, 1, false, false},
};

/// Rounding by search among all values of the format.
class Rounder {
 public:
  explicit Rounder(const Format& format) : format_(format) {
    for (unsigned code = 0; code < format.codes() / 2; ++code) {
      if (std::isfinite(format.decode(code))) codes_[format.decode(code)] = code;
    }
  }

  [[nodiscard]] double largest() const { return codes_.rbegin()->first; }

  [[nodiscard]] double round(double value, Rounding mode) const {
    if (std::isnan(value)) return format_.has_nan ? value : std::copysign(largest(), value);
    return std::copysign(round_magnitude(std::fabs(value), std::signbit(value), mode), value);
  }

 private:
  /// The first value too large for the format, where its next exponent would begin its steps.
  [[nodiscard]] double beyond() const { return 2 * largest() - std::prev(codes_.end(), 2)->first; }

  [[nodiscard]] double overflow(double magnitude, bool towards_zero) const {
    if (!format_.has_infinity) return largest();
    return towards_zero && std::isfinite(magnitude) ? largest() : INFINITY;
  }

  [[nodiscard]] double round_magnitude(double magnitude, bool negative, Rounding mode) const {
    const bool nearest = mode == Rounding::nearest_even;
    const bool down = mode == Rounding::zero || (mode == Rounding::negative_inf) != negative;
    const auto upper = codes_.lower_bound(magnitude);
    if (upper != codes_.end() && upper->first == magnitude) return magnitude;
    if (upper == codes_.end()) {
      if (!nearest) return overflow(magnitude, down);
      return magnitude < (largest() + beyond()) / 2 ? largest() : overflow(magnitude, false);
    }
    const auto lower = std::prev(upper);
    if (!nearest) return down ? lower->first : upper->first;
    const double middle = (lower->first + upper->first) / 2;
    if (magnitude == middle) return lower->second % 2 == 0 ? lower->first : upper->first;
    return magnitude < middle ? lower->first : upper->first;
  }

  Format format_;
  std::map<double, unsigned> codes_;
};

/// Every value of the format, the middles between neighbours and the f32 values beside both; and specials.
inline std::vector<float> rounding_inputs(const Format& format) {
  std::vector<float> values = special_floats<float>();
  const auto around = [&values](double value) {
    const auto single = static_cast<float>(value);
    for (const float v : {single, std::nextafter(single, 0.0F), std::nextafter(single, INFINITY)}) {
      append(values, {v, -v});
    }
  };
  for (unsigned code = 0; code + 1 < format.codes() / 2; ++code) {
    const double value = format.decode(code), next = format.decode(code + 1);
    if (!std::isfinite(value)) continue;
    around(value);
    if (std::isfinite(next))
      around((value + next) / 2);
    else
      around(value + (value - format.decode(code - 1)) / 2);
  }
  return values;
}

}  // namespace tilegym::cpu::testing
