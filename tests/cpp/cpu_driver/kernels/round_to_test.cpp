#include "cpu_driver/kernels/narrow_formats.h"

namespace tilegym::cpu::testing {
namespace {

using RoundTo = KernelTest;
TILEGYM_AT_EVERY_LEVEL(RoundTo);

void expect_rounded(const Format& format, Rounding mode) {
  const Rounder rounder(format);
  const auto values = rounding_inputs(format);
  const auto got = run<float>({.op = StripOp::round_to, .element = format.element, .rounding = mode}, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto wanted = static_cast<float>(rounder.round(values[i], mode));
    ASSERT_TRUE(same(got[i], wanted)) << tile_ir::name(format.element) << " mode " << static_cast<int>(mode) << ": "
                                      << std::hexfloat << values[i] << " gave " << got[i] << ", wanted " << wanted;
  }
}

TEST_P(RoundTo, EveryValueAndMiddleRoundsToNearestEven) {
  for (const Format& format : kFormats) expect_rounded(format, Rounding::nearest_even);
}

TEST_P(RoundTo, DirectedModesTakeTheNeighbourOnTheirSide) {
  for (const Format& format : kFormats) {
    for (const Rounding mode : {Rounding::zero, Rounding::negative_inf, Rounding::positive_inf}) {
      expect_rounded(format, mode);
    }
  }
}

TEST_P(RoundTo, Tf32KeepsTenBitsAndTheRangeOfF32) {
  const std::vector<float> values = {0x1.002p0F, 0x1.006p0F, 0x1.0021p0F, -0x1.ffep127F, 0x1p-149F, INFINITY};
  EXPECT_EQ(run<float>({.op = StripOp::round_to, .element = ElementType::tf32}, values),
            (std::vector<float>{1.0F, 0x1.008p0F, 0x1.004p0F, -INFINITY, 0, INFINITY}));
}

TEST_P(RoundTo, E8M0KeepsThePowerOfTwo) {
  const std::vector<float> values = {1, 1.25F, 1.5F, 3, 6, -5, 0, 0x1.8p-127F, 0x1.9p-127F, 0x1.8p127F, INFINITY};
  const auto at = [&values](Rounding mode) {
    return run<float>({.op = StripOp::round_to, .element = ElementType::f8e8m0fnu, .rounding = mode}, values);
  };
  EXPECT_EQ(at(Rounding::zero),
            (std::vector<float>{1, 1, 1, 2, 4, 4, 0x1p-127F, 0x1p-127F, 0x1p-127F, 0x1p127F, 0x1p127F}));
  EXPECT_EQ(at(Rounding::positive_inf),
            (std::vector<float>{1, 2, 2, 4, 8, 8, 0x1p-127F, 0x1p-126F, 0x1p-126F, 0x1p127F, 0x1p127F}));
}

}  // namespace
}  // namespace tilegym::cpu::testing
