#include "validation/device_compare.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "validation/device_emulation.h"

namespace tilegym::validation {
namespace {

using Extents = std::vector<std::int64_t>;
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

constexpr ElementType kTypes[] = {ElementType::f64,      ElementType::f32,    ElementType::f16, ElementType::bf16,
                                  ElementType::f8e4m3fn, ElementType::f8e5m2, ElementType::i64, ElementType::i32,
                                  ElementType::i16,      ElementType::i8,     ElementType::u8,  ElementType::boolean};

/// Memory of a type, and a view of it.
struct Data {
  ElementType type;
  std::vector<std::byte> bytes;
  Extents shape;
  Extents strides;
  std::int64_t offset = 0;

  [[nodiscard]] ArrayView view() const {
    return {type, bytes.data() + offset * static_cast<std::int64_t>(size_of(type)), shape, strides};
  }
};

/// Any bits: every value, NaN and infinity of the type comes up where the type is small.
Data noise(ElementType type, const Extents& shape, const Extents& strides, std::int64_t elements, unsigned seed) {
  std::mt19937 random(seed);
  Data data{type, std::vector<std::byte>(static_cast<std::size_t>(elements) * size_of(type)), shape, strides};
  for (std::byte& byte : data.bytes) byte = static_cast<std::byte>(random() % (type == ElementType::boolean ? 2 : 256));
  return data;
}

Data packed(ElementType type, std::int64_t elements, unsigned seed) {
  return noise(type, {elements}, {1}, elements, seed);
}

Data floats(const std::vector<float>& values, const Extents& shape = {}) {
  Data data{ElementType::f32, std::vector<std::byte>(values.size() * 4), shape, Extents(shape.size(), 1)};
  if (shape.empty()) data.shape = {static_cast<std::int64_t>(values.size())}, data.strides = {1};
  for (std::size_t dim = data.shape.size() - 1; dim > 0; --dim) {
    data.strides[dim - 1] = data.strides[dim] * data.shape[dim];
  }
  std::memcpy(data.bytes.data(), values.data(), data.bytes.size());
  return data;
}

void expect_same(const std::vector<Mismatch>& found, const std::vector<Mismatch>& wanted) {
  ASSERT_EQ(found.size(), wanted.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].index, wanted[i].index);
    EXPECT_TRUE(found[i].actual == wanted[i].actual || std::isnan(found[i].actual));
    EXPECT_TRUE(found[i].expected == wanted[i].expected || std::isnan(found[i].expected));
  }
}

void expect_same(const std::optional<Mismatch>& found, const std::optional<Mismatch>& wanted) {
  ASSERT_EQ(found.has_value(), wanted.has_value());
  if (found) expect_same(std::vector{*found}, std::vector{*wanted});
}

void expect_near(double found, double wanted, double relative) {
  if (std::isfinite(wanted)) {
    EXPECT_NEAR(found, wanted, relative * std::fabs(wanted));
  } else {
    EXPECT_EQ(found, wanted);
  }
}

void expect_same(const Comparison& found, const Comparison& wanted) {
  for (const auto member :
       {&Comparison::elements, &Comparison::mismatches, &Comparison::nan_in_both, &Comparison::nan_in_actual,
        &Comparison::nan_in_expected, &Comparison::infinity_in_both, &Comparison::infinity_in_actual,
        &Comparison::infinity_in_expected, &Comparison::signed_zeros}) {
    EXPECT_EQ(found.*member, wanted.*member);
  }
  for (const auto member : {&Comparison::max_abs_error, &Comparison::max_rel_error, &Comparison::max_ulp_error}) {
    expect_near(found.*member, wanted.*member, 1e-6);
  }
  expect_near(found.mean_abs_error, wanted.mean_abs_error, 1e-5);
  for (std::size_t i = 0; i < kPercents.size(); ++i) expect_near(found.percentiles[i], wanted.percentiles[i], 1e-6);
  expect_same(found.first, wanted.first);
  expect_same(found.worst, wanted.worst);
  expect_same(found.greatest_absolute, wanted.greatest_absolute);
  expect_same(found.greatest_relative, wanted.greatest_relative);
  ASSERT_EQ(found.blocks.has_value(), wanted.blocks.has_value());
  if (!found.blocks) return;
  ASSERT_EQ(found.blocks->blocks.size(), wanted.blocks->blocks.size());
  for (std::size_t i = 0; i < found.blocks->blocks.size(); ++i) {
    EXPECT_EQ(found.blocks->blocks[i].block, wanted.blocks->blocks[i].block);
    EXPECT_EQ(found.blocks->blocks[i].mismatches, wanted.blocks->blocks[i].mismatches);
    EXPECT_EQ(found.blocks->blocks[i].max_abs_error, wanted.blocks->blocks[i].max_abs_error);
  }
}

/// Compares on the emulated device and on the host, and returns the name of the kernel.
std::string expect_as_on_the_host(const Data& actual, const Data& expected, const Tolerance& tolerance,
                                  const Detail& detail = {.keep = 3, .block = {}}) {
  device::EmulatedQueue queue;
  std::vector<std::byte> workspace(device_workspace_bytes(actual.shape, detail), std::byte{0xA5});
  const auto found = compare_on_device(queue, actual.view(), expected.view(), tolerance, detail, workspace);
  const auto wanted = compare(actual.view(), expected.view(), tolerance, detail);
  EXPECT_TRUE(found.ok()) << found.error().message;
  EXPECT_TRUE(wanted.ok());
  if (found.ok()) expect_same(found.value(), wanted.value());
  return queue.launched.empty() ? "" : queue.launched.front();
}

TEST(DeviceComparison, EveryPairOfTypesIsThatOfTheHost) {
  for (const ElementType a : kTypes) {
    for (const ElementType e : kTypes) {
      SCOPED_TRACE(std::string(name_of(a)) + " against " + std::string(name_of(e)));
      const Data actual = packed(a, 1500, 1);
      expect_as_on_the_host(actual, packed(e, 1500, 2), {.rtol = 0.5, .atol = 1});
      // Integers and small floats meet themselves again, so that strips match, too.
      if (a == e) expect_as_on_the_host(actual, actual, {.equal_nan = true});
    }
  }
}

TEST(DeviceComparison, MatchingPairsAreScannedWhereTheyLie) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  std::vector<float> expected(40000);
  for (float& value : expected) value = normal(random);
  std::vector<float> actual = expected;
  for (float& value : actual) value += 1e-4F * normal(random);
  actual[5] = -0.0F;
  expected[5] = 0.0F;
  EXPECT_EQ(expect_as_on_the_host(floats(actual), floats(expected), {.rtol = 1, .atol = 1}),
            "tilegym_compare_packed_4_4");
}

TEST(DeviceComparison, TheBoundIsThatOfADouble) {
  for (const double factor : {1 - 1e-12, 1.0, 1 + 1e-7}) {
    std::vector<float> actual(2048, 1.0F);
    std::vector<float> expected(2048, 1.0F);
    actual[1777] = 1.0F + 0x1p-10F;
    actual[9] = 0x1p-20F;
    expected[9] = 0;
    expect_as_on_the_host(floats(actual), floats(expected), {.rtol = 0x1p-10 * factor, .atol = 0x1p-20});
    expect_as_on_the_host(floats(actual), floats(expected), {.rtol = 0.5, .atol = 0x1p-20 * factor});
  }
}

TEST(DeviceComparison, SpecialValuesAreCounted) {
  const float nan = std::nanf("");
  const float values[] = {nan, HUGE_VALF, -HUGE_VALF, 0.0F, -0.0F, 1e-45F, 3e38F, -3e38F, 1e-38F, 1.0F};
  std::vector<float> actual(3000, 2.0F);
  std::vector<float> expected(3000, 2.0F);
  for (std::size_t i = 0; i < 100; ++i) {
    actual[i * 29] = values[i / 10];
    expected[i * 29] = values[i % 10];
  }
  for (const bool equal_nan : {false, true}) {
    expect_as_on_the_host(floats(actual), floats(expected), {.rtol = 1, .atol = 1, .equal_nan = equal_nan});
    expect_as_on_the_host(floats(actual), floats(expected), {.rtol = 1e300, .atol = 1e300, .equal_nan = equal_nan});
  }
}

TEST(DeviceComparison, OverflowsHideNoMaximum) {
  // Where the expected value is zero or close to it, relative errors and units in the last place are beyond a float.
  std::vector<float> expected(5000, 1.0F);
  std::vector<float> actual = expected;
  expected[700] = 0;
  actual[700] = 5;
  expected[1700] = 1e-37F;
  actual[1700] = 30;
  expected[2700] = 0;
  actual[2700] = 27;
  expect_as_on_the_host(floats(actual), floats(expected), {.rtol = 1, .atol = 100});
  expected[700] = expected[2700] = 1;
  expect_as_on_the_host(floats(actual), floats(expected), {.rtol = 1, .atol = 100});
}

TEST(DeviceComparison, AnyLayoutIsFollowed) {
  struct Row {
    Extents shape;
    Extents strides;
    std::int64_t offset;
  };
  const Row rows[] = {{{37, 60}, {60, 1}, 0},           {{37, 60}, {1, 37}, 0},
                      {{37, 60}, {64, 1}, 3},           {{37, 60}, {0, 1}, 0},
                      {{37, 60}, {-60, -1}, 2399},      {{5, 7, 60}, {60, 300, 1}, 0},
                      {{3, 1, 4, 9}, {1, 7, 3, 99}, 0}, {{}, {}, 5}};
  for (const Row& row : rows) {
    Data actual = noise(ElementType::i8, row.shape, row.strides, 2600, 4);
    actual.offset = row.offset;
    std::int64_t elements = 1;
    for (const std::int64_t extent : row.shape) elements *= extent;
    Extents strides(row.shape.size(), 1);
    for (std::size_t dim = strides.size(); dim-- > 1;) strides[dim - 1] = strides[dim] * row.shape[dim];
    const Data expected = noise(ElementType::f16, row.shape, strides, elements, 5);
    SCOPED_TRACE(testing::PrintToString(row.strides));
    expect_as_on_the_host(actual, expected, {.rtol = 0.5, .atol = 20});
    expect_as_on_the_host(expected, actual, {.rtol = 0.5, .atol = 20});
  }
}

TEST(DeviceComparison, BlocksAreMapped) {
  std::vector<float> expected(60 * 70, 1.0F);
  std::vector<float> actual = expected;
  actual[3] = 1.25F;
  actual[45 * 70 + 66] = 9;
  actual[59 * 70 + 69] = std::nanf("");
  const Detail detail{.keep = 2, .block = {16, 32}};
  expect_as_on_the_host(floats(actual, {60, 70}), floats(expected, {60, 70}), {.rtol = 0, .atol = 0.5}, detail);
}

TEST(DeviceComparison, MismatchesInManyStripsAreOrdered) {
  // Equal errors everywhere, so that places decide; more strips than are fetched at a time.
  const std::vector<float> expected(90000, 0.0F);
  std::vector<float> actual(90000, 1.0F);
  actual[70001] = 2;
  for (const std::size_t keep : {1U, 3U, 80U}) {
    expect_as_on_the_host(floats(actual), floats(expected), {}, {.keep = keep, .block = {}});
  }
}

TEST(DeviceComparison, NothingToCompareIsNoLaunch) {
  const Data nothing = packed(ElementType::f32, 0, 1);
  EXPECT_EQ(expect_as_on_the_host(nothing, nothing, {}), "");
}

TEST(DeviceComparison, BadArgumentsAreErrors) {
  device::EmulatedQueue queue;
  const Data data = packed(ElementType::f32, 8, 1);
  std::vector<std::byte> workspace(64);
  const auto small = compare_on_device(queue, data.view(), data.view(), {}, {}, workspace);
  ASSERT_FALSE(small.ok());
  EXPECT_NE(small.error().message.find("wanted a workspace of"), std::string::npos);
  const Extents many(17, 2);
  const Extents apart(17, 3);
  const ArrayView deep{ElementType::i8, data.bytes.data(), many, apart};
  EXPECT_FALSE(compare_on_device(queue, deep, deep, {}, {}, workspace).ok());
  EXPECT_FALSE(compare_on_device(queue, data.view(), data.view(), {.rtol = kNan}, {}, workspace).ok());
}

}  // namespace
}  // namespace tilegym::validation
