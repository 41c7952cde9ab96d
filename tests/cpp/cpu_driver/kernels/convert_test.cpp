#include "cpu_driver/kernels/support.h"

namespace tilegym::cpu::testing {
namespace {

using Convert = KernelTest;
TILEGYM_AT_EVERY_LEVEL(Convert);

template <class T>
constexpr Lane lane_for() {
  if constexpr (std::is_same_v<T, float>) return Lane::f32;
  if constexpr (std::is_same_v<T, double>) return Lane::f64;
  constexpr Lane kInteger[] = {Lane::i8, Lane::i16, Lane::i32, Lane::i64};
  return kInteger[sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3];
}

/// T's values in a conversion: the signedness of the key is that of the integer type in it.
template <class To, class From>
std::vector<To> convert(const std::vector<From>& values) {
  constexpr bool kSigned = std::is_floating_point_v<From> ? std::is_signed_v<To> : std::is_signed_v<From>;
  return run<To>({.op = StripOp::convert,
                  .lane = lane_for<To>(),
                  .from = lane_for<From>(),
                  .signedness = kSigned ? Signedness::signed_ : Signedness::unsigned_},
                 values);
}

/// Truncated in long double, which holds every 64-bit integer, then limited to To.
template <class To>
To saturated(long double value) {
  using Limits = std::numeric_limits<To>;
  if (std::isnan(value)) return 0;
  value = std::trunc(value);
  if (value <= static_cast<long double>(Limits::min())) return Limits::min();
  if (value >= static_cast<long double>(Limits::max())) return Limits::max();
  return static_cast<To>(value);
}

template <class From>
std::vector<From> float_values() {
  std::vector<From> values = special_floats<From>();
  for (const int bits : {7, 8, 15, 16, 31, 32, 63, 64}) {
    for (const From around : {std::ldexp(From(1), bits), std::nextafter(std::ldexp(From(1), bits), From(0))}) {
      append(values, {around, -around, around - From(0.5), -around - From(0.5)});
    }
  }
  return values;
}

template <class To, class From>
void expect_float_to_integer() {
  const auto values = float_values<From>();
  const auto got = convert<To>(values);
  for (std::size_t i = 0; i < values.size(); ++i) ASSERT_EQ(got[i], saturated<To>(values[i])) << values[i];
}

template <class From>
void expect_all_integers_from() {
  expect_float_to_integer<std::int8_t, From>();
  expect_float_to_integer<std::uint8_t, From>();
  expect_float_to_integer<std::int16_t, From>();
  expect_float_to_integer<std::uint16_t, From>();
  expect_float_to_integer<std::int32_t, From>();
  expect_float_to_integer<std::uint32_t, From>();
  expect_float_to_integer<std::int64_t, From>();
  expect_float_to_integer<std::uint64_t, From>();
}

TEST_P(Convert, FloatToIntegerTruncatesAndSaturates) {
  expect_all_integers_from<float>();
  expect_all_integers_from<double>();
}

template <class From>
void expect_integer_to_others() {
  auto values = special_integers<From>();
  const auto random = random_values<From>(300, 9);
  values.insert(values.end(), random.begin(), random.end());
  const auto single = convert<float>(values);
  const auto twice = convert<double>(values);
  const auto wide = convert<std::int64_t>(values);
  const auto narrow = convert<std::int8_t>(values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(single[i], static_cast<float>(static_cast<long double>(values[i]))) << +values[i];
    ASSERT_EQ(twice[i], static_cast<double>(static_cast<long double>(values[i]))) << +values[i];
    ASSERT_EQ(wide[i], static_cast<std::int64_t>(values[i])) << +values[i];
    ASSERT_EQ(narrow[i], static_cast<std::int8_t>(values[i])) << +values[i];
  }
}

TEST_P(Convert, IntegersRoundToNearestExtendAndWrap) {
  expect_integer_to_others<std::int8_t>();
  expect_integer_to_others<std::uint8_t>();
  expect_integer_to_others<std::int16_t>();
  expect_integer_to_others<std::uint16_t>();
  expect_integer_to_others<std::int32_t>();
  expect_integer_to_others<std::uint32_t>();
  expect_integer_to_others<std::int64_t>();
  expect_integer_to_others<std::uint64_t>();
}

TEST_P(Convert, FloatsWidenExactlyAndNarrowToNearest) {
  const std::vector<double> values = {0.1, -0.0, 1e300, -1e300, 1e-310, 0x1.000001p0, 0x1.000003p0};
  EXPECT_EQ(convert<float>(values), (std::vector<float>{0.1F, -0.0F, INFINITY, -INFINITY, 0, 1.0F, 0x1.000004p0F}));
  EXPECT_EQ(convert<double>(std::vector<float>{0.1F, 1e-40F}), (std::vector<double>{0.1F, 1e-40F}));
  EXPECT_TRUE(std::isnan(convert<float>(std::vector<double>{NAN})[0]));
}

TEST_P(Convert, SignedMaskIsMinusOne) {
  const std::vector<std::uint8_t> mask = {0, 1};
  StripKey key{.op = StripOp::convert, .lane = Lane::i32, .from = Lane::mask};
  EXPECT_EQ(run<std::int32_t>(key, mask), (std::vector<std::int32_t>{0, -1}));
  key.signedness = Signedness::unsigned_;
  EXPECT_EQ(run<std::int32_t>(key, mask), (std::vector<std::int32_t>{0, 1}));
  key.lane = Lane::f32;
  EXPECT_EQ(run<float>(key, mask), (std::vector<float>{0, 1}));
}

TEST_P(Convert, MaskKeepsTheLowestBitOfAnInteger) {
  const StripKey key{.op = StripOp::convert, .lane = Lane::mask, .from = Lane::i32};
  EXPECT_EQ(run<std::uint8_t>(key, std::vector<std::int32_t>{0, 1, 2, -1}), (std::vector<std::uint8_t>{0, 1, 0, 1}));
}

TEST_P(Convert, ScalarOperandFillsTheStrip) {
  const StripKey key{.op = StripOp::convert, .lane = Lane::f64, .from = Lane::i32, .scalar_operands = 1};
  EXPECT_EQ(run<double>(key, std::vector<std::int32_t>(9, -3)), std::vector<double>(9, -3.0));
}

}  // namespace
}  // namespace tilegym::cpu::testing
