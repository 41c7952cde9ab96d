#include "cpu_driver/kernels/support.h"

namespace tilegym::cpu::testing {
namespace {

/// Distance in units of the last place of the f32 nearest to `wanted`; 0 where both are NaN or the same infinity.
double ulps(float got, double wanted) {
  const float nearest = static_cast<float>(wanted);
  if (same(got, nearest)) return 0;
  if (!std::isfinite(got) || !std::isfinite(nearest)) return std::numeric_limits<double>::infinity();
  const float magnitude = std::max(std::fabs(nearest), std::numeric_limits<float>::min());
  return std::fabs(got - wanted) / (std::nextafter(magnitude, std::numeric_limits<float>::infinity()) - magnitude);
}

struct Case {
  StripOp op;
  double (*reference)(double);
  float low, high;
  double bound;
};
double rsqrt(double x) {
  return 1 / std::sqrt(x);
}
const Case kCases[] = {
    {StripOp::exp2, std::exp2, -152, 130, 1},   {StripOp::exp2, std::exp2, -1, 1, 1},
    {StripOp::exp, std::exp, -105, 90, 1},      {StripOp::exp, std::exp, -1, 1, 1},
    {StripOp::log, std::log, 0, 1e30F, 1},      {StripOp::log, std::log, 0.5F, 2, 1},
    {StripOp::log, std::log, 0, 1e-38F, 1},     {StripOp::log2, std::log2, 0, 1e30F, 1},
    {StripOp::log2, std::log2, 0.5F, 2, 1.1},   {StripOp::log2, std::log2, 0, 1e-38F, 1},
    {StripOp::tanh, std::tanh, -10, 10, 1.5},   {StripOp::tanh, std::tanh, -0.7F, 0.7F, 1.5},
    {StripOp::sin, std::sin, -4, 4, 1},         {StripOp::sin, std::sin, -48000, 48000, 1},
    {StripOp::sin, std::sin, -1e30F, 1e30F, 1}, {StripOp::cos, std::cos, -4, 4, 1},
    {StripOp::cos, std::cos, -48000, 48000, 1}, {StripOp::cos, std::cos, -1e30F, 1e30F, 1},
    {StripOp::rsqrt, rsqrt, 0, 1e10F, 0.52},    {StripOp::tan, std::tan, -10, 10, 0.52},
    {StripOp::sinh, std::sinh, -80, 80, 0.52},  {StripOp::cosh, std::cosh, -80, 80, 0.52},
};

std::vector<float> uniform(float low, float high, std::size_t count) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> between(low, high);
  std::vector<float> values(count);
  for (float& value : values) value = between(random);
  return values;
}

using FloatMath = KernelTest;
TILEGYM_AT_EVERY_LEVEL(FloatMath);

TEST_P(FloatMath, StaysWithinItsErrorBound) {
  for (const Case& c : kCases) {
    const auto x = uniform(c.low, c.high, 50000);
    const auto got = run<float>({.op = c.op}, x);
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i) worst = std::max(worst, ulps(got[i], c.reference(x[i])));
    EXPECT_LE(worst, c.bound) << "operation " << static_cast<int>(c.op) << " in [" << c.low << ", " << c.high << "]";
  }
}

TEST_P(FloatMath, SpecialValuesAreThoseOfTheMathematicalFunctions) {
  for (const Case& c : kCases) {
    const auto x = special_floats<float>();
    const auto got = run<float>({.op = c.op}, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_LE(ulps(got[i], c.reference(x[i])), 2) << "operation " << static_cast<int>(c.op) << " of " << x[i];
    }
  }
}

TEST_P(FloatMath, OddFunctionsKeepTheSignOfZero) {
  for (const StripOp op : {StripOp::sin, StripOp::tan, StripOp::sinh, StripOp::tanh}) {
    EXPECT_TRUE(same(run<float>({.op = op}, std::vector<float>{-0.0F})[0], -0.0F)) << static_cast<int>(op);
  }
}

TEST_P(FloatMath, ALaneDoesNotDependOnItsNeighbours) {
  // An infinity beside it sends a vector to the code for results outside the normal range.
  const auto x = uniform(-80, 80, 4000);
  std::vector<float> mixed;
  for (const float value : x) append(mixed, {value, std::numeric_limits<float>::infinity()});
  for (const StripOp op : {StripOp::exp, StripOp::exp2, StripOp::sin, StripOp::cos, StripOp::tanh}) {
    const auto alone = run<float>({.op = op}, x), beside = run<float>({.op = op}, mixed);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_TRUE(same(alone[i], beside[2 * i])) << x[i];
  }
}

TEST_P(FloatMath, Exp2FlushesSubnormalResultsOnRequest) {
  const std::vector<float> x = {-127, -126};
  EXPECT_EQ(run<float>({.op = StripOp::exp2, .flush_to_zero = true}, x), (std::vector<float>{0, 0x1p-126F}));
  EXPECT_EQ(run<float>({.op = StripOp::exp2}, x), (std::vector<float>{0x1p-127F, 0x1p-126F}));
}

TEST_P(FloatMath, TwoOperandFunctionsFollowTheCLibrary) {
  const auto [a, b] = all_pairs(special_floats<float>());
  const auto power = run<float>({.op = StripOp::pow}, a, b), angle = run<float>({.op = StripOp::atan2}, a, b),
             rest = run<float>({.op = StripOp::rem}, a, b);
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_LE(ulps(power[i], std::pow(double{a[i]}, double{b[i]})), 1) << a[i] << ", " << b[i];
    EXPECT_LE(ulps(angle[i], std::atan2(double{a[i]}, double{b[i]})), 1) << a[i] << ", " << b[i];
    EXPECT_TRUE(same(rest[i], static_cast<float>(std::fmod(double{a[i]}, double{b[i]})))) << a[i] << ", " << b[i];
  }
}

TEST_P(FloatMath, F64IsWithinOneUlpOfTheLongDoubleFunction) {
  const std::vector<double> x = {-3.5, -0.1, 0.1, 0.7, 1, 2.3, 9};
  const auto check = [&x](StripOp op, long double (*reference)(long double)) {
    const auto got = run<double>({.op = op, .lane = Lane::f64}, x);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto wanted = static_cast<double>(reference(x[i]));
      if (std::isnan(wanted))
        EXPECT_TRUE(std::isnan(got[i]));
      else
        EXPECT_NEAR(got[i], wanted, std::fabs(wanted) * 4e-16) << x[i];
    }
  };
  check(StripOp::exp, std::exp);
  check(StripOp::exp2, std::exp2);
  check(StripOp::log, std::log);
  check(StripOp::log2, std::log2);
  check(StripOp::tanh, std::tanh);
  check(StripOp::sin, std::sin);
  check(StripOp::cos, std::cos);
}

}  // namespace
}  // namespace tilegym::cpu::testing
