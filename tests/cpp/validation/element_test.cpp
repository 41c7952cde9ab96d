#include "validation/element.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace tilegym::validation {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class Bits>
double load_one(ElementType type, Bits bits) {
  double value = 0;
  load(type, reinterpret_cast<const std::byte*>(&bits), 1, 1, &value);
  return value;
}

double f16(std::uint16_t bits) {
  return load_one(ElementType::f16, bits);
}
double e4m3(std::uint8_t bits) {
  return load_one(ElementType::f8e4m3fn, bits);
}
double e5m2(std::uint8_t bits) {
  return load_one(ElementType::f8e5m2, bits);
}

TEST(LoadF16, NumbersOfTheIeeeTables) {
  EXPECT_EQ(f16(0x3C00), 1.0);
  EXPECT_EQ(f16(0xC000), -2.0);
  EXPECT_EQ(f16(0x7BFF), 65504.0);
  EXPECT_EQ(f16(0x3555), 0.333251953125);
}

TEST(LoadF16, SmallestNumbers) {
  EXPECT_EQ(f16(0x0001), std::exp2(-24));
  EXPECT_EQ(f16(0x0400), std::exp2(-14));
}

TEST(LoadF16, ZeroKeepsItsSign) {
  EXPECT_FALSE(std::signbit(f16(0x0000)));
  EXPECT_TRUE(std::signbit(f16(0x8000)));
}

TEST(LoadF16, InfinitiesAndNan) {
  EXPECT_EQ(f16(0x7C00), kInfinity);
  EXPECT_EQ(f16(0xFC00), -kInfinity);
  EXPECT_TRUE(std::isnan(f16(0x7C01)));
}

TEST(LoadBf16, IsTheUpperHalfOfAFloat) {
  EXPECT_EQ(load_one(ElementType::bf16, std::uint16_t{0x3F80}), 1.0);
  EXPECT_EQ(load_one(ElementType::bf16, std::uint16_t{0x0001}), std::exp2(-133));
  EXPECT_TRUE(std::isnan(load_one(ElementType::bf16, std::uint16_t{0x7FC0})));
}

TEST(LoadF8, E4m3fnHasNoInfinity) {
  EXPECT_EQ(e4m3(0x38), 1.0);
  EXPECT_EQ(e4m3(0x7E), 448.0);
  EXPECT_EQ(e4m3(0x01), std::exp2(-9));
  EXPECT_TRUE(std::isnan(e4m3(0x7F)));
  EXPECT_TRUE(std::isnan(e4m3(0xFF)));
}

TEST(LoadF8, E5m2HasInfinities) {
  EXPECT_EQ(e5m2(0x3C), 1.0);
  EXPECT_EQ(e5m2(0x7B), 57344.0);
  EXPECT_EQ(e5m2(0x01), std::exp2(-16));
  EXPECT_EQ(e5m2(0xFC), -kInfinity);
  EXPECT_TRUE(std::isnan(e5m2(0x7D)));
}

TEST(LoadIntegers, AreExactAtTheirEnds) {
  EXPECT_EQ(load_one(ElementType::i32, std::numeric_limits<std::int32_t>::min()), -2147483648.0);
  EXPECT_EQ(load_one(ElementType::u8, std::uint8_t{255}), 255.0);
  EXPECT_EQ(load_one(ElementType::i8, std::int8_t{-128}), -128.0);
  const std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  std::int64_t value = 0;
  load(ElementType::i64, reinterpret_cast<const std::byte*>(&largest), 1, 1, &value);
  EXPECT_EQ(value, largest);
}

TEST(Load, FollowsTheStrideEitherWay) {
  const std::vector<float> data{0, 1, 2, 3, 4, 5};
  std::vector<double> out(3);
  load(ElementType::f32, reinterpret_cast<const std::byte*>(data.data()), 2, 3, out.data());
  EXPECT_EQ(out, (std::vector<double>{0, 2, 4}));
  load(ElementType::f32, reinterpret_cast<const std::byte*>(data.data() + 5), -2, 3, out.data());
  EXPECT_EQ(out, (std::vector<double>{5, 3, 1}));
}

}  // namespace
}  // namespace tilegym::validation
