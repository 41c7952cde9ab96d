#include "validation/compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace tilegym::validation {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
using Extents = std::vector<std::int64_t>;

/// An array of doubles or int64 with its layout.
template <class T>
class Array {
 public:
  explicit Array(std::vector<T> values) : Array(std::move(values), {}, {}) {
    shape_ = {static_cast<std::int64_t>(values_.size())};
    strides_ = {1};
  }
  Array(std::vector<T> values, Extents shape, Extents strides)
      : values_(std::move(values)), shape_(std::move(shape)), strides_(std::move(strides)) {}

  [[nodiscard]] ArrayView view() const {
    constexpr ElementType kType = std::is_same_v<T, double> ? ElementType::f64 : ElementType::i64;
    return {kType, reinterpret_cast<const std::byte*>(values_.data()), shape_, strides_};
  }

 private:
  std::vector<T> values_;
  Extents shape_;
  Extents strides_;
};

using Doubles = Array<double>;
using Integers = Array<std::int64_t>;

template <class A, class B>
Comparison compared(const A& actual, const B& expected, Tolerance tolerance = {}) {
  return compare(actual.view(), expected.view(), tolerance).value();
}

TEST(Compare, EqualArraysMatch) {
  const Comparison result = compared(Doubles({1, -2, 0}), Doubles({1, -2, -0.0}));
  EXPECT_TRUE(result.matches());
  EXPECT_EQ(result.elements, 3);
  EXPECT_EQ(result.max_abs_error, 0);
  EXPECT_TRUE(result.first.empty());
}

TEST(Compare, FindsTheLargestErrors) {
  const Comparison result = compared(Doubles({1.5, 104, 0.25}), Doubles({1, 100, 0.125}));
  EXPECT_EQ(result.max_abs_error, 4);
  EXPECT_EQ(result.max_rel_error, 1);
}

TEST(Compare, ToleranceIsAbsolutePlusRelative) {
  const Doubles actual({12.0});
  const Doubles expected({10.0});
  EXPECT_TRUE(compared(actual, expected, {.rtol = 0.1, .atol = 1}).matches());
  EXPECT_FALSE(compared(actual, expected, {.rtol = 0.1, .atol = 0.9}).matches());
}

TEST(Compare, FirstMismatchIsTheFirstInRowMajorOrder) {
  const Doubles actual({0, 0, 0, 7, 0, 9}, {2, 3}, {3, 1});
  const Doubles expected({0, 0, 0, 0, 0, 0}, {2, 3}, {3, 1});
  const Comparison result = compared(actual, expected);
  EXPECT_EQ(result.mismatches, 2);
  EXPECT_EQ(result.first.front().index, (Extents{1, 0}));
  EXPECT_EQ(result.first.front().actual, 7);
  EXPECT_EQ(result.first.front().expected, 0);
}

TEST(Compare, LayoutsMayDiffer) {
  const Doubles rows({1, 2, 3, 4, 5, 6}, {2, 3}, {3, 1});
  const Doubles columns({1, 4, 2, 5, 3, 6}, {2, 3}, {1, 2});
  EXPECT_TRUE(compared(rows, columns).matches());
}

TEST(Compare, PaddingIsNotLookedAt) {
  const Doubles packed({1, 2, 3, 4}, {2, 2}, {2, 1});
  const Doubles padded({1, 2, kNan, 3, 4, kNan}, {2, 2}, {3, 1});
  EXPECT_TRUE(compared(padded, packed).matches());
}

TEST(Compare, BroadcastDimensionsRepeat) {
  EXPECT_TRUE(compared(Doubles({5}, {2, 2}, {0, 0}), Doubles({5, 5, 5, 5}, {2, 2}, {2, 1})).matches());
}

TEST(Compare, ScalarsAreCompared) {
  const Comparison result = compared(Doubles({1}, {}, {}), Doubles({2}, {}, {}));
  EXPECT_EQ(result.elements, 1);
  EXPECT_TRUE(result.first.front().index.empty());
}

TEST(Compare, EmptyArraysHaveNoElements) {
  const Comparison result = compared(Doubles({}, {3, 0}, {0, 1}), Doubles({}, {3, 0}, {0, 1}));
  EXPECT_EQ(result.elements, 0);
  EXPECT_TRUE(result.matches());
}

TEST(Compare, RowsLongerThanABufferAreCompared) {
  std::vector<double> values(5000, 1);
  const Doubles expected(values);
  values[4999] = 2;
  EXPECT_EQ(compared(Doubles(values), expected).first.front().index, (Extents{4999}));
}

TEST(CompareNan, KindsAreCountedApart) {
  const Comparison result = compared(Doubles({kNan, kNan, 1, 1}), Doubles({kNan, 1, kNan, 1}));
  EXPECT_EQ(result.nan_in_both, 1);
  EXPECT_EQ(result.nan_in_actual, 1);
  EXPECT_EQ(result.nan_in_expected, 1);
  EXPECT_EQ(result.mismatches, 3);
  EXPECT_EQ(result.max_abs_error, 0);
}

TEST(CompareNan, NanInBothMatchesOnRequestOnly) {
  EXPECT_FALSE(compared(Doubles({kNan}), Doubles({kNan})).matches());
  EXPECT_TRUE(compared(Doubles({kNan}), Doubles({kNan}), {.equal_nan = true}).matches());
  EXPECT_FALSE(compared(Doubles({kNan}), Doubles({1}), {.equal_nan = true}).matches());
}

TEST(CompareInfinity, EqualOnesMatchAndNoToleranceCoversTheRest) {
  EXPECT_TRUE(compared(Doubles({kInfinity}), Doubles({kInfinity})).matches());
  const Tolerance wide{.rtol = 1, .atol = 1e300};
  EXPECT_FALSE(compared(Doubles({kInfinity}), Doubles({-kInfinity}), wide).matches());
  EXPECT_FALSE(compared(Doubles({1}), Doubles({kInfinity}), wide).matches());
  EXPECT_EQ(compared(Doubles({1}), Doubles({kInfinity})).max_rel_error, kInfinity);
}

TEST(CompareIntegers, AreExactBeyondDoubles) {
  const std::int64_t large = (std::int64_t{1} << 60) + 1;
  const Comparison result = compared(Integers({large}), Integers({large - 1}));
  EXPECT_EQ(result.mismatches, 1);
  EXPECT_EQ(result.max_abs_error, 1);
}

TEST(CompareIntegers, DistanceDoesNotOverflow) {
  using Limits = std::numeric_limits<std::int64_t>;
  EXPECT_EQ(compared(Integers({Limits::max()}), Integers({Limits::min()})).max_abs_error, std::exp2(64));
}

TEST(CompareIntegers, MayBeComparedWithDoubles) {
  EXPECT_TRUE(compared(Integers({3}), Doubles({3})).matches());
}

TEST(CompareErrors, ShapesMustAgree) {
  const auto result = compare(Doubles({1, 2}).view(), Doubles({1, 2}, {2, 1}, {1, 1}).view(), {});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("got [2] and [2, 1]"), std::string::npos);
}

TEST(CompareErrors, TolerancesMustBeNumbersFromZero) {
  const Doubles one({1});
  EXPECT_FALSE(compare(one.view(), one.view(), {.rtol = -1}).ok());
  EXPECT_FALSE(compare(one.view(), one.view(), {.atol = kNan}).ok());
}

}  // namespace
}  // namespace tilegym::validation
