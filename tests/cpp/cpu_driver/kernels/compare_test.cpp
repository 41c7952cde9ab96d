#include "cpu_driver/kernels/support.h"

namespace tilegym::cpu::testing {
namespace {

template <class T>
bool holds(Predicate predicate, T a, T b) {
  switch (predicate) {
    case Predicate::equal:
      return a == b;
    case Predicate::not_equal:
      return a != b;
    case Predicate::less:
      return a < b;
    case Predicate::less_equal:
      return a <= b;
    case Predicate::greater:
      return a > b;
    default:
      return a >= b;
  }
}

constexpr Predicate kPredicates[] = {Predicate::equal,      Predicate::not_equal, Predicate::less,
                                     Predicate::less_equal, Predicate::greater,   Predicate::greater_equal};

/// With a NaN an ordered comparison is false and an unordered one true.
template <class T>
bool reference(const StripKey& key, T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return key.ordering == Ordering::unordered;
  }
  return holds(key.predicate, a, b);
}

template <class T>
void expect_comparisons(Lane lane, const std::vector<T>& values) {
  const auto [a, b] = all_pairs(values);
  const auto signedness = std::is_signed_v<T> ? Signedness::signed_ : Signedness::unsigned_;
  for (const Predicate predicate : kPredicates) {
    for (const Ordering ordering : {Ordering::ordered, Ordering::unordered}) {
      for (unsigned scalars = 0; scalars < 4; ++scalars) {
        const StripKey key{.op = StripOp::compare,
                           .lane = lane,
                           .scalar_operands = static_cast<std::uint8_t>(scalars),
                           .signedness = signedness,
                           .predicate = predicate,
                           .ordering = ordering};
        const auto got = run<std::uint8_t>(key, a, b);
        for (std::size_t i = 0; i < a.size(); ++i) {
          const T x = a[scalars & 1 ? 0 : i], y = b[scalars & 2 ? 0 : i];
          ASSERT_EQ(got[i], reference(key, x, y)) << +x << " ? " << +y << " predicate " << static_cast<int>(predicate);
        }
      }
    }
  }
}

using Compare = KernelTest;
TILEGYM_AT_EVERY_LEVEL(Compare);

TEST_P(Compare, FloatsFollowOrderAndNan) {
  expect_comparisons(Lane::f32, special_floats<float>());
  expect_comparisons(Lane::f64, special_floats<double>());
}

TEST_P(Compare, IntegersFollowSignedness) {
  expect_comparisons(Lane::i8, special_integers<std::int8_t>());
  expect_comparisons(Lane::i8, special_integers<std::uint8_t>());
  expect_comparisons(Lane::i16, special_integers<std::int16_t>());
  expect_comparisons(Lane::i32, special_integers<std::int32_t>());
  expect_comparisons(Lane::i32, special_integers<std::uint32_t>());
  expect_comparisons(Lane::i64, special_integers<std::int64_t>());
  expect_comparisons(Lane::i64, special_integers<std::uint64_t>());
}

TEST_P(Compare, MasksAreUnsignedBitsOrSignedMinusOne) {
  const std::vector<std::uint8_t> a = {0, 1}, b = {1, 0};
  StripKey key{
      .op = StripOp::compare, .lane = Lane::mask, .signedness = Signedness::unsigned_, .predicate = Predicate::less};
  EXPECT_EQ(run<std::uint8_t>(key, a, b), (std::vector<std::uint8_t>{1, 0}));
  key.signedness = Signedness::signed_;
  EXPECT_EQ(run<std::uint8_t>(key, a, b), (std::vector<std::uint8_t>{0, 1}));
}

}  // namespace
}  // namespace tilegym::cpu::testing
