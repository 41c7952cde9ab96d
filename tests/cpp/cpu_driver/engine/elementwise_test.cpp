#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "cpu_driver/engine/kernel_builder.h"

namespace tilegym::cpu::testing {
namespace {

std::vector<_Float16> halves(std::initializer_list<double> values) {
  std::vector<_Float16> result;
  for (const double value : values) result.push_back(static_cast<_Float16>(value));
  return result;
}

/// Runs out = opcode(inputs...) over a tile of the inputs' length.
template <class Out, class In>
std::vector<Out> apply(Opcode opcode, ElementType in, ElementType out, std::initializer_list<std::vector<In>> inputs,
                       const KernelBuilder::Attributes& attributes = {}) {
  KernelBuilder k;
  const auto count = static_cast<std::int64_t>(inputs.begin()->size());
  const ValueId target = k.pointer_parameter(out);
  Values operands;
  std::vector<const void*> pointers(1);
  for (const std::vector<In>& input : inputs) {
    pointers.push_back(input.data());
    operands.push_back(k.load(k.pointer_parameter(in), {count}));
  }
  k.store(target, k.op(opcode, operands, k.tile(out, {count}), attributes));
  std::vector<Out> result(inputs.begin()->size());
  pointers[0] = result.data();
  run_ok(k, pointers);
  return result;
}

TEST(Elementwise, AddsStripsWithATail) {
  const std::vector<float> a = ramp(700);
  const std::vector<float> b = ramp(700, 0.5F, 3);
  const auto sum = apply<float>(Opcode::AddF, ElementType::f32, ElementType::f32, {a, b});
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(sum[i], a[i] + b[i]) << i;
}

TEST(Elementwise, WrapsIntegersAtTheirWidth) {
  const std::vector<std::int8_t> a{127, -128, 100, 5};
  const std::vector<std::int8_t> b{1, -1, 100, -7};
  const auto sum = apply<std::int8_t>(Opcode::AddI, ElementType::i8, ElementType::i8, {a, b});
  EXPECT_EQ(sum, (std::vector<std::int8_t>{-128, 127, -56, -2}));
}

TEST(Elementwise, DividesTowardsTheAskedSide) {
  const std::vector<std::int32_t> a{7, -7, 7, -7};
  const std::vector<std::int32_t> b{2, 2, -2, -2};
  const auto divide = [&](tile_ir::Rounding rounding) {
    return apply<std::int32_t>(Opcode::DivI, ElementType::i32, ElementType::i32, {a, b},
                               {{AttrName::signedness, 1}, {AttrName::rounding, static_cast<std::uint64_t>(rounding)}});
  };
  EXPECT_EQ(divide(tile_ir::Rounding::zero), (std::vector<std::int32_t>{3, -3, -3, 3}));
  EXPECT_EQ(divide(tile_ir::Rounding::negative_inf), (std::vector<std::int32_t>{3, -4, -4, 3}));
  EXPECT_EQ(divide(tile_ir::Rounding::positive_inf), (std::vector<std::int32_t>{4, -3, -3, 4}));
}

TEST(Elementwise, DivisionByZeroDoesNotTrap) {
  const std::vector<std::int32_t> a{7, std::numeric_limits<std::int32_t>::min(), 0, 9};
  const std::vector<std::int32_t> b{0, -1, 0, 3};
  const auto quotient = apply<std::int32_t>(Opcode::DivI, ElementType::i32, ElementType::i32, {a, b},
                                            {{AttrName::signedness, 1}, {AttrName::rounding, 1}});
  EXPECT_EQ(quotient[0], 0);
  EXPECT_EQ(quotient[3], 3);
}

TEST(Elementwise, ComparesUnsignedWhereAsked) {
  const std::vector<std::int32_t> a{-1, 1, 5, 5};
  const std::vector<std::int32_t> b{1, -1, 5, 6};
  const auto less = [&](std::uint64_t signedness) {
    return apply<std::uint8_t>(Opcode::CmpI, ElementType::i32, ElementType::i1, {a, b},
                               {{AttrName::comparison_predicate, 2}, {AttrName::signedness, signedness}});
  };
  EXPECT_EQ(less(1), (std::vector<std::uint8_t>{1, 0, 0, 1}));
  EXPECT_EQ(less(0), (std::vector<std::uint8_t>{0, 1, 0, 1}));
}

TEST(Elementwise, OrderedComparisonIsFalseForNan) {
  const float nan = std::nanf("");
  const std::vector<float> a{1, nan, 2, nan};
  const std::vector<float> b{2, 1, nan, nan};
  const auto less = [&](std::uint64_t ordering) {
    return apply<std::uint8_t>(Opcode::CmpF, ElementType::f32, ElementType::i1, {a, b},
                               {{AttrName::comparison_predicate, 2}, {AttrName::comparison_ordering, ordering}});
  };
  EXPECT_EQ(less(1), (std::vector<std::uint8_t>{1, 0, 0, 0}));
  EXPECT_EQ(less(0), (std::vector<std::uint8_t>{1, 1, 1, 1}));
}

TEST(Elementwise, MaximumPropagatesNanOnlyWhereAsked) {
  const std::vector<float> a{1, std::nanf(""), 3, -0.0F};
  const std::vector<float> b{2, 5, std::nanf(""), 0.0F};
  const auto number = apply<float>(Opcode::MaxF, ElementType::f32, ElementType::f32, {a, b});
  EXPECT_EQ(number, (std::vector<float>{2, 5, 3, 0}));
  const auto nan =
      apply<float>(Opcode::MaxF, ElementType::f32, ElementType::f32, {a, b}, {{AttrName::propagate_nan, 1}});
  EXPECT_TRUE(std::isnan(nan[1]) && std::isnan(nan[2]));
}

TEST(Elementwise, RoundsHalfPrecisionAfterEveryOperation) {
  // 2049 needs 12 bits: as f16 the sum is 2048, ties to even.
  const std::vector<_Float16> a = halves({2048, 1, 0.5, 65504});
  const std::vector<_Float16> b = halves({1, 2, 0.25, 65504});
  const auto sum = apply<_Float16>(Opcode::AddF, ElementType::f16, ElementType::f16, {a, b});
  EXPECT_EQ(static_cast<float>(sum[0]), 2048.0F);
  EXPECT_EQ(static_cast<float>(sum[1]), 3.0F);
  EXPECT_TRUE(std::isinf(static_cast<float>(sum[3])));
}

TEST(Elementwise, ConvertsIntegersToFloatsByValue) {
  const std::vector<std::int32_t> a{-1, 0, 16777217, 7};
  const auto real = apply<float>(Opcode::IToF, ElementType::i32, ElementType::f32, {a}, {{AttrName::signedness, 1}});
  EXPECT_EQ(real, (std::vector<float>{-1, 0, 16777216, 7}));
  const auto wide = apply<float>(Opcode::IToF, ElementType::i32, ElementType::f32, {a}, {{AttrName::signedness, 0}});
  EXPECT_EQ(wide[0], 4294967296.0F);
}

TEST(Elementwise, ConvertsFloatsToIntegersTowardsZero) {
  const std::vector<float> a{1.9F, -1.9F, 0.5F, 100};
  const auto whole =
      apply<std::int32_t>(Opcode::FToI, ElementType::f32, ElementType::i32, {a}, {{AttrName::signedness, 1}});
  EXPECT_EQ(whole, (std::vector<std::int32_t>{1, -1, 0, 100}));
}

TEST(Elementwise, ExtendsBySignWhereAsked) {
  const std::vector<std::int8_t> a{-1, 1, -128, 127};
  const auto extend = [&](std::uint64_t signedness) {
    return apply<std::int32_t>(Opcode::ExtI, ElementType::i8, ElementType::i32, {a},
                               {{AttrName::signedness, signedness}});
  };
  EXPECT_EQ(extend(1), (std::vector<std::int32_t>{-1, 1, -128, 127}));
  EXPECT_EQ(extend(0), (std::vector<std::int32_t>{255, 1, 128, 127}));
}

TEST(Elementwise, BitcastKeepsTheBits) {
  const std::vector<_Float16> a = halves({1, -2, 0.5, 0});
  const auto bits = apply<std::int16_t>(Opcode::Bitcast, ElementType::f16, ElementType::i16, {a});
  EXPECT_EQ(bits, (std::vector<std::int16_t>{0x3C00, static_cast<std::int16_t>(0xC000), 0x3800, 0}));
  const std::vector<std::int32_t> ones{0x3F800000, 0, 0x40000000, 0};
  const auto real = apply<float>(Opcode::Bitcast, ElementType::i32, ElementType::f32, {ones});
  EXPECT_EQ(real, (std::vector<float>{1, 0, 2, 0}));
}

TEST(Elementwise, ScalarArithmeticOfFloatsRunsInOneLane) {
  KernelBuilder k;
  const ValueId out = k.pointer_parameter(ElementType::f32);
  const ValueId x = k.parameter(k.tile(ElementType::f32));
  const ValueId half = k.constant<float>(k.tile(ElementType::f32), {0.5F});
  const ValueId root = k.same(Opcode::Sqrt, {k.same(Opcode::MulF, {x, half})});
  k.store(out, root);
  float result = 0;
  float* pointer = &result;
  const float argument = 32;
  const auto kernel = k.lower();
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  ASSERT_EQ(run(*kernel.value(), {&pointer, &argument}).outcome, Outcome::ok);
  EXPECT_EQ(result, 4.0F);
}

TEST(Elementwise, SplatOperandsNeedNoTile) {
  KernelBuilder k;
  const ValueId out = k.pointer_parameter(ElementType::f32);
  const ValueId x = k.load(k.pointer_parameter(ElementType::f32), {4});
  const ValueId three = k.constant<float>(k.tile(ElementType::f32, {4}), {3});
  k.store(out, k.same(Opcode::SubF, {three, k.same(Opcode::MulF, {x, three})}));
  const std::vector<float> in{0, 1, 2, 3};
  std::vector<float> result(4);
  run_ok(k, {result.data(), in.data()});
  EXPECT_EQ(result, (std::vector<float>{3, 0, -3, -6}));
}

TEST(Elementwise, MissingKernelIsNamed) {
  KernelBuilder k;
  const ValueId out = k.pointer_parameter(ElementType::f32);
  const ValueId x = k.load(k.pointer_parameter(ElementType::f32), {4});
  k.store(out, k.same(Opcode::Entry, {x}));
  const auto kernel = k.lower();
  ASSERT_FALSE(kernel.ok());
  EXPECT_EQ(kernel.error().message, "tile op entry is not executed by the CPU device yet");
}

}  // namespace
}  // namespace tilegym::cpu::testing
