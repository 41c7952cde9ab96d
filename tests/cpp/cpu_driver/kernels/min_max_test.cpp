#include "cpu_driver/kernels/support.h"

namespace tilegym::cpu::testing {
namespace {

/// IEEE 754 maximum (propagate) or maximumNumber, with -0 below +0.
template <class T>
T maximum(T a, T b, bool propagate) {
  if (std::isnan(a) || std::isnan(b)) return propagate ? std::numeric_limits<T>::quiet_NaN() : (std::isnan(a) ? b : a);
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
template <class T>
T minimum(T a, T b, bool propagate) {
  return -maximum<T>(-a, -b, propagate);
}

template <class T>
void expect_extremes(Lane lane, bool propagate) {
  const auto [a, b] = all_pairs(special_floats<T>());
  const auto high = run<T>({.op = StripOp::max, .lane = lane, .propagate_nan = propagate}, a, b);
  const auto low = run<T>({.op = StripOp::min, .lane = lane, .propagate_nan = propagate}, a, b);
  for (std::size_t i = 0; i < a.size(); ++i) {
    ASSERT_TRUE(same(high[i], maximum(a[i], b[i], propagate))) << "max " << a[i] << ", " << b[i];
    ASSERT_TRUE(same(low[i], minimum(a[i], b[i], propagate))) << "min " << a[i] << ", " << b[i];
  }
}

using MinMax = KernelTest;
TILEGYM_AT_EVERY_LEVEL(MinMax);

TEST_P(MinMax, NumberWinsOverNanByDefault) {
  expect_extremes<float>(Lane::f32, false);
  expect_extremes<double>(Lane::f64, false);
}

TEST_P(MinMax, NanWinsWhenPropagated) {
  expect_extremes<float>(Lane::f32, true);
  expect_extremes<double>(Lane::f64, true);
}

TEST_P(MinMax, FlushesSubnormals) {
  const std::vector<float> a = {0x1p-130F, -0x1p-130F}, b = {-1, -1};
  const auto got = run<float>({.op = StripOp::max, .flush_to_zero = true}, a, b);
  EXPECT_TRUE(same(got[0], 0.0F));
  EXPECT_TRUE(same(got[1], -0.0F));
}

}  // namespace
}  // namespace tilegym::cpu::testing
