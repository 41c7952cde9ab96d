#pragma once

namespace tilegym::validation {

/// Two elements match where |actual - expected| <= atol + rtol * |expected|, or where they are equal (infinities too).
struct Tolerance {
  double rtol = 0;
  double atol = 0;
  bool equal_nan = false;  ///< whether a NaN matches a NaN; a NaN never matches a number
};

}  // namespace tilegym::validation
