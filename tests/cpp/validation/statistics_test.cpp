#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "validation/compare.h"
#include "validation/scan.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace tilegym::validation {
namespace {

using Extents = std::vector<std::int64_t>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinite = std::numeric_limits<double>::infinity();

/// Packed values of any type, held as bytes.
struct Data {
  ElementType type;
  std::vector<std::byte> bytes;
  Extents shape;
  Extents strides;

  [[nodiscard]] ArrayView view() const { return {type, bytes.data(), shape, strides}; }
  [[nodiscard]] double at(std::int64_t position) const {
    double value = 0;
    load(type, bytes.data() + position * static_cast<std::int64_t>(size_of(type)), 1, 1, &value);
    return value;
  }
};

template <class T>
Data data(ElementType type, const std::vector<T>& values, Extents shape = {}) {
  if (shape.empty()) shape = {static_cast<std::int64_t>(values.size())};
  Data result{type, std::vector<std::byte>(values.size() * sizeof(T)), shape, Extents(shape.size(), 1)};
  std::memcpy(result.bytes.data(), values.data(), result.bytes.size());
  for (std::size_t dim = shape.size() - 1; dim > 0; --dim) result.strides[dim - 1] = result.strides[dim] * shape[dim];
  return result;
}

Data doubles(const std::vector<double>& values, Extents shape = {}) {
  return data(ElementType::f64, values, std::move(shape));
}
Data floats(const std::vector<float>& values) {
  return data(ElementType::f32, values);
}

Comparison compared(const Data& actual, const Data& expected, Tolerance tolerance = {}, const Detail& detail = {}) {
  return compare(actual.view(), expected.view(), tolerance, detail).value();
}

/// Finite values of a type and neighbours of them, a few units apart.
std::pair<Data, Data> neighbours(ElementType type, std::size_t count) {
  std::mt19937 random(static_cast<unsigned>(count));
  std::vector<std::byte> actual(count * size_of(type));
  std::vector<std::byte> expected(actual.size());
  const auto fill = [&]<class Bits>(Bits exponent_low, Bits exponent_high, Bits sign) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto value = std::uniform_int_distribution<std::uint64_t>(exponent_low, exponent_high)(random);
      const auto e = static_cast<Bits>(static_cast<Bits>(value) | (random() % 2 == 0 ? sign : Bits{0}));
      const auto a = static_cast<Bits>(e + random() % 4);
      std::memcpy(&expected[i * sizeof(Bits)], &e, sizeof e);
      std::memcpy(&actual[i * sizeof(Bits)], &a, sizeof a);
    }
  };
  if (type == ElementType::f64) fill(std::uint64_t{0x3E} << 56, std::uint64_t{0x41} << 56, std::uint64_t{1} << 63);
  if (type == ElementType::f32) fill(std::uint32_t{0x3C000000}, std::uint32_t{0x42000000}, std::uint32_t{1} << 31);
  if (type == ElementType::f16) fill(std::uint16_t{0x2000}, std::uint16_t{0x5000}, std::uint16_t{0x8000});
  if (type == ElementType::bf16) fill(std::uint16_t{0x3C00}, std::uint16_t{0x4200}, std::uint16_t{0x8000});
  const Extents shape{static_cast<std::int64_t>(count)};
  return {Data{type, actual, shape, {1}}, Data{type, expected, shape, {1}}};
}

class ScanLevels : public testing::TestWithParam<ScanLevel> {
 protected:
  void SetUp() override {
    if (!set_scan_level(GetParam())) GTEST_SKIP() << "this processor lacks the instructions";
  }
  void TearDown() override { set_scan_level(before_); }

 private:
  ScanLevel before_ = scan_level();
};

INSTANTIATE_TEST_SUITE_P(All, ScanLevels, testing::Values(ScanLevel::plain, ScanLevel::avx2, ScanLevel::avx512));

TEST_P(ScanLevels, StatisticsAreThoseOfALoop) {
  constexpr std::pair<ElementType, int> kMantissas[] = {
      {ElementType::f64, 52}, {ElementType::f32, 23}, {ElementType::f16, 10}, {ElementType::bf16, 7}};
  for (const auto& [type, mantissa] : kMantissas) {
    for (const std::size_t count : {1U, 3U, 31U, 4095U, 4097U, 300000U}) {
      const auto [actual, expected] = neighbours(type, count);
      const Comparison result = compared(actual, expected, {.rtol = 0.1, .atol = 0});
      double largest = 0;
      double ratio = 0;
      double ulps = 0;
      double sum = 0;
      for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i) {
        const double error = std::fabs(actual.at(i) - expected.at(i));
        largest = std::max(largest, error);
        ratio = std::max(ratio, error / std::fabs(expected.at(i)));
        ulps = std::max(ulps, std::ldexp(error, mantissa - std::ilogb(expected.at(i))));
        sum += error;
      }
      SCOPED_TRACE(testing::Message() << name_of(type) << " x " << count);
      EXPECT_TRUE(result.matches());
      EXPECT_EQ(result.max_abs_error, largest);
      EXPECT_NEAR(result.max_rel_error, ratio, ratio * 1e-7);
      EXPECT_NEAR(result.mean_abs_error, sum / static_cast<double>(count), sum / static_cast<double>(count) * 1e-6);
      EXPECT_EQ(result.max_ulp_error, ulps);
    }
  }
}

TEST_P(ScanLevels, TheBoundIsThatOfADouble) {
  // 4096 matching pairs around the one that counts, so that it is scanned as one of a strip.
  for (const double factor : {1 - 1e-12, 1 - 1e-7, 1.0, 1 + 1e-7, 1 + 1e-3}) {
    std::vector<float> actual(300000, 1.0F);
    std::vector<float> expected(300000, 1.0F);
    actual[777] = 1.0F + 0x1p-10F;
    expected[900] = 0;
    actual[900] = 0x1p-20F;
    const double rtol = 0x1p-10 * factor;
    EXPECT_EQ(compared(floats(actual), floats(expected), {.rtol = rtol, .atol = 0x1p-20}).mismatches,
              0x1p-10 <= 0x1p-20 + rtol ? 0 : 1);
    EXPECT_EQ(compared(floats(actual), floats(expected), {.rtol = 0.5, .atol = 0x1p-20 * factor}).mismatches,
              factor < 1 ? 1 : 0);
  }
}

TEST_P(ScanLevels, SpecialValuesInAStripAreSeen) {
  const std::vector<float> ones(300000, 1.0F);
  for (const float value : {std::nanf(""), HUGE_VALF, -HUGE_VALF, 9.0F}) {
    std::vector<float> other = ones;
    other[299999] = value;
    EXPECT_EQ(compared(floats(other), floats(ones), {.rtol = 0.5, .atol = 0.5}).mismatches, 1);
    EXPECT_EQ(compared(floats(ones), floats(other), {.rtol = 0.5, .atol = 0.5}).mismatches, 1);
  }
}

TEST_P(ScanLevels, SubnormalsAreNoZerosWhateverTheCallerFlushes) {
#if defined(__SSE__)
  const unsigned saved = _mm_getcsr();
  _mm_setcsr(saved | 0x8040);  // flush to zero, denormals are zero
#endif
  std::vector<float> actual(300000, 0.0F);
  const std::vector<float> expected = actual;
  actual[5] = std::numeric_limits<float>::denorm_min();
  const Comparison result = compared(floats(actual), floats(expected));
#if defined(__SSE__)
  _mm_setcsr(saved);
#endif
  EXPECT_EQ(result.mismatches, 1);
}

TEST_P(ScanLevels, ZerosOfOtherSignsMatchAndAreCounted) {
  std::vector<float> actual(300000, 0.0F);
  std::vector<float> expected = actual;
  actual[3] = -0.0F;
  expected[299999] = -0.0F;
  const Comparison result = compared(floats(actual), floats(expected));
  EXPECT_TRUE(result.matches());
  EXPECT_EQ(result.signed_zeros, 2);
}

TEST(CompareUlps, AreOfActualsTypeAtExpected) {
  EXPECT_EQ(compared(floats({1.0F + 0x1p-22F}), doubles({1.0}), {.atol = 1}).max_ulp_error, 2);
  EXPECT_EQ(compared(floats({2.0F}), doubles({2.0 + 0x1p-23}), {.atol = 1}).max_ulp_error, 0.5);
  EXPECT_EQ(compared(floats({0x1p-149F}), floats({0}), {.atol = 1}).max_ulp_error, 1);
  EXPECT_EQ(
      compared(data(ElementType::i32, std::vector<std::int32_t>{7}), data(ElementType::i64, Extents{3})).max_ulp_error,
      4);
}

TEST(CompareInfinity, KindsAreCountedApart) {
  const Comparison result = compared(doubles({kInfinite, kInfinite, 1, -kInfinite, kInfinite}),
                                     doubles({kInfinite, 1, kInfinite, kInfinite, kNan}));
  EXPECT_EQ(result.infinity_in_both, 1);
  EXPECT_EQ(result.infinity_in_actual, 3);  // the last one beside a NaN
  EXPECT_EQ(result.infinity_in_expected, 2);
  EXPECT_EQ(result.mean_abs_error, 0);
}

TEST(CompareKept, FirstAndWorstInTheirOrders) {
  const Data actual = doubles({0, 3, 0, 9, 1, 5}, {2, 3});
  const Data expected = doubles({0, 0, 0, 0, 0, 0}, {2, 3});
  const Comparison result = compared(actual, expected, {}, {.keep = 2, .block = {}});
  ASSERT_EQ(result.first.size(), 2);
  EXPECT_EQ(result.first[0].index, (Extents{0, 1}));
  EXPECT_EQ(result.first[1].index, (Extents{1, 0}));
  ASSERT_EQ(result.worst.size(), 2);
  EXPECT_EQ(result.worst[0].actual, 9);
  EXPECT_EQ(result.worst[1].actual, 5);
  EXPECT_EQ(result.greatest_absolute->index, (Extents{1, 0}));
}

TEST(CompareKept, NanIsWorstAndTheGreatestDifferenceIsANumber) {
  const Comparison result = compared(doubles({7, kNan}), doubles({0, 0}));
  EXPECT_EQ(result.worst[0].index, (Extents{1}));
  EXPECT_EQ(result.greatest_absolute->actual, 7);
}

TEST(CompareKept, RowMajorOrderHoldsInEveryLayout) {
  Data actual = doubles({0, 7, 0, 0, 0, 9}, {3, 2});
  const Data expected = doubles(std::vector<double>(6, 0), {3, 2});
  actual.shape = {2, 3};
  actual.strides = {1, 2};
  Data transposed = expected;
  transposed.shape = {2, 3};
  transposed.strides = {1, 2};
  EXPECT_EQ(compared(actual, transposed).first.front().index, (Extents{1, 0}));
}

TEST(CompareBlocks, MismatchesAreCountedByTile) {
  std::vector<double> values(4 * 6, 0);
  const Data expected = doubles(values, {4, 6});
  values[1 * 6 + 4] = 2;
  values[3 * 6 + 5] = 3;
  values[3 * 6 + 4] = 1;
  const BlockMap map = *compared(doubles(values, {4, 6}), expected, {}, {.keep = 1, .block = {2, 4}}).blocks;
  EXPECT_EQ(map.grid, (Extents{2, 2}));
  ASSERT_EQ(map.blocks.size(), 2);
  EXPECT_EQ(map.blocks[0].block, (Extents{0, 1}));
  EXPECT_EQ(map.blocks[1].mismatches, 2);
  EXPECT_EQ(map.blocks[1].max_abs_error, 3);
}

TEST(CompareBlocks, AreJoinedWhereThereAreTooMany) {
  const std::vector<float> ones(200000, 1.0F);
  const std::vector<float> zeros(200000, 0.0F);
  const BlockMap map = *compared(floats(ones), floats(zeros), {}, {.keep = 1, .block = {1}}).blocks;
  EXPECT_LE(map.grid[0], 65536);
  EXPECT_EQ(map.grid[0], (200000 + map.extents[0] - 1) / map.extents[0]);
}

TEST(ComparePercentiles, AreNearThoseOfTheErrors) {
  for (const std::size_t count : {1000U, 3000000U}) {
    std::vector<float> actual(count);
    const std::vector<float> expected(count, 0.0F);
    for (std::size_t i = 0; i < count; ++i)
      actual[i] = static_cast<float>(i * 7919 % count) / static_cast<float>(count);
    const Comparison result = compared(floats(actual), floats(expected), {.atol = 2});
    for (std::size_t i = 0; i < kPercents.size(); ++i) {
      EXPECT_NEAR(result.percentiles[i], kPercents[i] / 100, 0.07 * kPercents[i] / 100);
    }
  }
}

TEST(CompareThreads, DoNotChangeTheResult) {
  auto [actual, expected] = neighbours(ElementType::f32, 500000);
  const int before = omp_get_max_threads();
  std::vector<Comparison> results;
  for (const int threads : {1, 3}) {
    omp_set_num_threads(threads);
    results.push_back(compared(actual, expected, {.rtol = 1e-7}));
  }
  omp_set_num_threads(before);
  EXPECT_EQ(results[0].mean_abs_error, results[1].mean_abs_error);
  EXPECT_EQ(results[0].mismatches, results[1].mismatches);
  EXPECT_GT(results[0].mismatches, 0);
  EXPECT_EQ(results[0].percentiles, results[1].percentiles);
  EXPECT_EQ(results[0].first.front().index, results[1].first.front().index);
}

TEST(ComparePieces, MakeTheWhole) {
  const auto [actual, expected] = neighbours(ElementType::f32, 6000);
  const Comparison whole = compared(actual, expected, {.rtol = 1e-7});
  auto pieces = PiecewiseComparison::start(actual.shape, {.rtol = 1e-7}, {}).value();
  for (const std::int64_t first : {4000, 0, 2000}) {
    const Extents shape{2000};
    const auto part = [&](const Data& of) {
      return ArrayView{of.type, of.bytes.data() + first * 4, shape, of.strides};
    };
    ASSERT_TRUE(pieces.add(part(actual), part(expected), first).ok());
  }
  EXPECT_EQ(pieces.result().elements, 6000);
  EXPECT_EQ(pieces.result().mismatches, whole.mismatches);
  EXPECT_EQ(pieces.result().first.front().index, whole.first.front().index);
  EXPECT_FALSE(pieces.add(actual.view(), expected.view(), 1).ok());
}

TEST(CompareErrors, DetailsAreChecked) {
  const Data one = doubles({1});
  for (const Detail& detail : {Detail{0, {}}, Detail{20000, {}}, Detail{1, {1, 1}}, Detail{1, {0}}}) {
    EXPECT_FALSE(compare(one.view(), one.view(), {}, detail).ok());
  }
  EXPECT_FALSE(PiecewiseComparison::start(Extents{1LL << 40, 1LL << 40}, {}, {}).ok());
  EXPECT_FALSE(PiecewiseComparison::start(Extents{-1}, {}, {}).ok());
}

}  // namespace
}  // namespace tilegym::validation
