#include "cpu_driver/kernels/support.h"

namespace tilegym::cpu::testing {
namespace {

__extension__ using Quad = __float128;

/// A result to 113 bits, and the sign of what is missing.
struct Exact {
  Quad value;
  int rest = 0;
};

int sign_of(Quad value) {
  return (value > 0) - (value < 0);
}

/// Exact but for the quotient, which 113 bits cannot bring to a float that it does not equal.
Exact exact_result(StripOp op, Quad a, Quad b) {
  if (op == StripOp::mul) return {a * b};
  if (op == StripOp::div) return {a / b};
  const Quad addend = op == StripOp::sub ? -b : b, sum = a + addend;
  const Quad from_b = sum - a, from_a = sum - from_b;
  return {sum, sign_of((a - from_a) + (addend - from_b))};
}

/// The float that `mode` chooses.
template <class T>
T rounded(Exact exact, Rounding mode) {
  const T nearest = static_cast<T>(exact.value);
  if (mode == Rounding::nearest_even || std::isnan(nearest)) return nearest;
  const Quad beyond = Quad{nearest} - exact.value;
  const int excess = sign_of(beyond) != 0 ? sign_of(beyond) : -exact.rest;
  const bool down = mode == Rounding::negative_inf || (mode == Rounding::zero && exact.value > 0);
  const T infinity = std::numeric_limits<T>::infinity();
  if (down) return excess > 0 ? std::nextafter(nearest, -infinity) : nearest;
  return excess < 0 ? std::nextafter(nearest, infinity) : nearest;
}

/// Zeros of either sign are equal where the mode is not the default: the sign of an exact zero follows the mode.
template <class T>
bool agrees(T got, T wanted, Rounding mode) {
  return same(got, wanted) || (mode != Rounding::nearest_even && got == 0 && wanted == 0);
}

class FloatArithmetic : public KernelTest {
 protected:
  template <class T>
  void expect_correct(StripOp op, Lane lane, Rounding mode) {
    auto [a, b] = all_pairs(special_floats<T>());
    const std::vector<T> x = random_values<T>(1000, 2), y = random_values<T>(1000, 3);
    a.insert(a.end(), x.begin(), x.end());
    b.insert(b.end(), y.begin(), y.end());
    const auto got = run<T>({.op = op, .lane = lane, .rounding = mode}, a, b);
    for (std::size_t i = 0; i < a.size(); ++i) {
      const T wanted = rounded<T>(exact_result(op, Quad{a[i]}, Quad{b[i]}), mode);
      ASSERT_TRUE(agrees(got[i], wanted, mode)) << a[i] << ", " << b[i] << ": " << got[i] << ", wanted " << wanted;
    }
  }
};
TILEGYM_AT_EVERY_LEVEL(FloatArithmetic);

constexpr StripOp kBinary[] = {StripOp::add, StripOp::sub, StripOp::mul, StripOp::div};
constexpr Rounding kModes[] = {Rounding::nearest_even, Rounding::zero, Rounding::negative_inf, Rounding::positive_inf};

TEST_P(FloatArithmetic, BinaryF32IsCorrectlyRoundedInEveryMode) {
  for (const StripOp op : kBinary) {
    for (const Rounding mode : kModes) expect_correct<float>(op, Lane::f32, mode);
  }
}

TEST_P(FloatArithmetic, BinaryF64IsCorrectlyRoundedInEveryMode) {
  for (const StripOp op : kBinary) {
    for (const Rounding mode : kModes) expect_correct<double>(op, Lane::f64, mode);
  }
}

TEST_P(FloatArithmetic, ApproximateModesGiveTheNearestValue) {
  expect_correct<float>(StripOp::div, Lane::f32, Rounding::nearest_even);
  const std::vector<float> a = {1, 10, 1}, b = {3, 7, 0};
  const auto wanted = run<float>({.op = StripOp::div}, a, b);
  EXPECT_EQ(run<float>({.op = StripOp::div, .rounding = Rounding::approx}, a, b), wanted);
  EXPECT_EQ(run<float>({.op = StripOp::div, .rounding = Rounding::full}, a, b), wanted);
}

TEST_P(FloatArithmetic, FmaRoundsOnce) {
  const auto a = random_values<float>(4000, 4), b = random_values<float>(4000, 5), c = random_values<float>(4000, 6);
  const auto got = run<float>({.op = StripOp::fma}, a, b, c);
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_TRUE(same(got[i], std::fma(a[i], b[i], c[i]))) << i;
}

TEST_P(FloatArithmetic, FmaOfBf16FollowedByRoundingIsCorrectlyRounded) {
  // 285 and 315 are halfway between values of bf16; f32 to nearest would lose the small term that decides.
  const std::vector<float> a = {15, 15}, b = {19, 21}, c = {0x1p-30F, -0x1p-30F};
  const auto sums = run<float>({.op = StripOp::fma, .element = ElementType::bf16}, a, b, c);
  EXPECT_EQ(run<float>({.op = StripOp::round_to, .element = ElementType::bf16}, sums), (std::vector<float>{286, 314}));
}

TEST_P(FloatArithmetic, SqrtIsCorrectlyRoundedInEveryMode) {
  auto values = special_floats<float>();
  const auto random = random_values<float>(2000, 7);
  values.insert(values.end(), random.begin(), random.end());
  for (const Rounding mode : kModes) {
    const auto got = run<float>({.op = StripOp::sqrt, .rounding = mode}, values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float wanted = rounded<float>({Quad{std::sqrt(static_cast<long double>(values[i]))}}, mode);
      ASSERT_TRUE(agrees(got[i], wanted, mode)) << values[i];
    }
  }
}

template <class T>
using Reference = T (*)(T);

template <class T>
void expect_exact(StripOp op, Lane lane, Reference<T> reference) {
  auto values = special_floats<T>();
  const auto random = random_values<T>(2000, 8);
  values.insert(values.end(), random.begin(), random.end());
  const auto got = run<T>({.op = op, .lane = lane}, values);
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_TRUE(same(got[i], reference(values[i]))) << values[i];
}

TEST_P(FloatArithmetic, UnaryOperationsAreExact) {
  expect_exact<float>(StripOp::floor, Lane::f32, std::floor);
  expect_exact<double>(StripOp::floor, Lane::f64, std::floor);
  expect_exact<float>(StripOp::ceil, Lane::f32, std::ceil);
  expect_exact<double>(StripOp::ceil, Lane::f64, std::ceil);
  expect_exact<float>(StripOp::abs, Lane::f32, std::fabs);
  expect_exact<double>(StripOp::abs, Lane::f64, std::fabs);
  expect_exact<float>(StripOp::neg, Lane::f32, [](float x) { return -x; });
  expect_exact<double>(StripOp::neg, Lane::f64, [](double x) { return -x; });
  expect_exact<double>(StripOp::sqrt, Lane::f64, std::sqrt);
}

TEST_P(FloatArithmetic, FlushingTurnsSubnormalOperandsAndResultsIntoSignedZeros) {
  const float small = std::numeric_limits<float>::min(), subnormal = small / 2;
  const std::vector<float> a = {subnormal, -subnormal, small, -small, 1}, b = {1, 1, 0.5F, 0.5F, 3};
  const std::vector<float> wanted = {0.0F, -0.0F, 0.0F, -0.0F, 3};
  const auto got = run<float>({.op = StripOp::mul, .flush_to_zero = true}, a, b);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(same(got[i], wanted[i])) << i;
  EXPECT_EQ(run<float>({.op = StripOp::mul}, a, b)[2], small / 2);
}

TEST_P(FloatArithmetic, ModesDoNotOutliveTheKernel) {
  run<float>({.op = StripOp::add, .rounding = Rounding::positive_inf, .flush_to_zero = true}, special_floats<float>(),
             special_floats<float>());
  EXPECT_EQ(run<float>({.op = StripOp::add}, std::vector<float>{1}, std::vector<float>{0x1p-30F})[0], 1.0F);
  EXPECT_EQ(run<float>({.op = StripOp::mul}, std::vector<float>{0x1p-126F}, std::vector<float>{0.5F})[0], 0x1p-127F);
}

}  // namespace
}  // namespace tilegym::cpu::testing
