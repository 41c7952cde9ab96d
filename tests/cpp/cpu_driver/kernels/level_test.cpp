#include "cpu_driver/kernels/support.h"

namespace tilegym::cpu::testing {
namespace {

/// What `compute` returns at `isa`; the level in force before comes back.
template <class Compute>
auto at_level(Isa isa, Compute compute) {
  const Isa before = current_isa();
  set_isa(isa);
  auto result = compute();
  set_isa(before);
  return result;
}

std::vector<Isa> simd_levels() {
  const Isa best = current_isa();
  std::vector<Isa> levels;
  for (const Isa isa : {Isa::avx2, Isa::avx512}) {
    if (isa <= best) levels.push_back(isa);
  }
  return levels;
}

TEST(Levels, HaveTheNamesOfTheSetting) {
  EXPECT_EQ(name(Isa::plain), "plain");
  EXPECT_EQ(name(Isa::avx2), "avx2");
  EXPECT_EQ(name(Isa::avx512), "avx512");
  EXPECT_EQ(name(Isa::amx), "amx");
}

TEST(Levels, CanBeLoweredToPlainAndRaisedAgain) {
  const Isa best = current_isa();
  EXPECT_TRUE(set_isa(Isa::plain));
  EXPECT_EQ(current_isa(), Isa::plain);
  EXPECT_TRUE(set_isa(best));
  EXPECT_EQ(current_isa(), best);
}

TEST(LevelsDeathTest, EnvironmentLowersTheLevel) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // starts the program anew, so that it reads the variable
  setenv("TILEGYM_RS_ISA", "plain", 1);
  EXPECT_EXIT(std::exit(current_isa() == Isa::plain ? 0 : 1), ::testing::ExitedWithCode(0), "");
  unsetenv("TILEGYM_RS_ISA");
}

TEST(LevelsDeathTest, UnknownWordInTheEnvironmentChangesNothing) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const int best = static_cast<int>(current_isa());
  setenv("TILEGYM_RS_ISA", "fastest", 1);
  EXPECT_EXIT(std::exit(static_cast<int>(current_isa())), ::testing::ExitedWithCode(best), "");
  unsetenv("TILEGYM_RS_ISA");
}

TEST(Levels, FloatOperationsGiveTheSameBits) {
  auto a = random_values<float>(20000, 1), b = random_values<float>(20000, 2);
  for (const StripOp op : {StripOp::add, StripOp::mul, StripOp::div, StripOp::fma, StripOp::sqrt, StripOp::rsqrt,
                           StripOp::exp, StripOp::exp2, StripOp::log, StripOp::log2, StripOp::tanh, StripOp::sin,
                           StripOp::cos, StripOp::floor, StripOp::ceil}) {
    const auto compute = [&] { return run<float>({.op = op}, a, b, a); };
    const auto wanted = at_level(Isa::plain, compute);
    for (const Isa isa : simd_levels()) {
      const auto got = at_level(isa, compute);
      for (std::size_t i = 0; i < a.size(); ++i) {
        ASSERT_TRUE(same(got[i], wanted[i])) << name(isa) << " operation " << static_cast<int>(op) << " of " << a[i];
      }
    }
  }
}

TEST(Levels, RoundingToNarrowFormatsGivesTheSameBitsEvenOfNan) {
  const auto values = random_values<std::int32_t>(100000, 3);
  for (const ElementType element : {ElementType::f16, ElementType::bf16, ElementType::f8e5m2, ElementType::f8e4m3fn}) {
    const auto compute = [&] { return run<std::int32_t>({.op = StripOp::round_to, .element = element}, values); };
    const auto wanted = at_level(Isa::plain, compute);
    for (const Isa isa : simd_levels()) EXPECT_EQ(at_level(isa, compute), wanted) << name(isa);
  }
}

TEST(Levels, VectorWidthDoesNotShowInProducts) {
  if (simd_levels().size() < 2) GTEST_SKIP() << "needs avx512";
  const std::int64_t m = 37, n = 53, k = 71;
  const auto a = random_values<std::int16_t>(m * k, 4), b = random_values<std::int16_t>(k * n, 5);
  const MmaKey key{.a = ElementType::bf16};
  const auto compute = [&] {
    std::vector<float> c(m * n, 1);
    const auto scratch = make_register(std::vector<std::uint8_t>{}, mma_scratch_bytes(key, m, n, k));
    find_mma(key)(c.data(), {a.data(), k}, {b.data(), n}, m, n, k, scratch.get());
    return c;
  };
  const auto narrow = at_level(Isa::avx2, compute), wide = at_level(Isa::avx512, compute);
  for (std::size_t i = 0; i < narrow.size(); ++i) ASSERT_TRUE(same(narrow[i], wide[i])) << i;
}

}  // namespace
}  // namespace tilegym::cpu::testing
