#include "cpu_driver/kernels/support.h"

/// What holds for every strip kernel: tails, scalar operands, results over operands.
namespace tilegym::cpu::testing {
namespace {

using StripShape = KernelTest;
TILEGYM_AT_EVERY_LEVEL(StripShape);

template <class T>
std::vector<T> counting(std::size_t lanes, T start) {
  std::vector<T> values(lanes);
  for (std::size_t i = 0; i < lanes; ++i) values[i] = static_cast<T>(start + static_cast<T>(i));
  return values;
}

TEST_P(StripShape, EveryNumberOfLanesIsComputed) {
  for (std::size_t lanes = 1; lanes <= kStripLanes; ++lanes) {
    const auto a = counting<float>(lanes, 1), b = counting<float>(lanes, 3);
    const auto sum = run<float>({.op = StripOp::add}, a, b);
    const auto less = run<std::uint8_t>({.op = StripOp::compare, .predicate = Predicate::less}, a, b);
    const auto narrow = run<std::int8_t>({.op = StripOp::convert, .lane = Lane::i8, .from = Lane::f32}, a);
    for (std::size_t i = 0; i < lanes; ++i) {
      ASSERT_EQ(sum[i], a[i] + b[i]);
      ASSERT_EQ(less[i], 1);
      ASSERT_EQ(narrow[i], std::min(a[i], 127.0F));
    }
  }
}

TEST_P(StripShape, EveryCombinationOfScalarOperandsIsComputed) {
  const auto a = counting<float>(37, 1), b = counting<float>(37, 5), c = counting<float>(37, -9);
  for (unsigned scalars = 0; scalars < 8; ++scalars) {
    const auto at = [scalars](const std::vector<float>& x, unsigned bit, std::size_t i) {
      return x[scalars >> bit & 1 ? 0 : i];
    };
    const auto mask = static_cast<std::uint8_t>(scalars);
    const auto fused = run<float>({.op = StripOp::fma, .scalar_operands = mask}, a, b, c);
    const auto difference =
        run<float>({.op = StripOp::sub, .scalar_operands = static_cast<std::uint8_t>(mask & 3)}, a, b);
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(fused[i], at(a, 0, i) * at(b, 1, i) + at(c, 2, i)) << scalars;
      ASSERT_EQ(difference[i], at(a, 0, i) - at(b, 1, i)) << scalars;
    }
  }
}

TEST_P(StripShape, CopyOfAScalarFills) {
  EXPECT_EQ(run<double>({.op = StripOp::copy, .lane = Lane::f64, .scalar_operands = 1}, std::vector<double>(5, 2.5)),
            std::vector<double>(5, 2.5));
  EXPECT_EQ(run<std::uint8_t>({.op = StripOp::copy, .lane = Lane::mask}, std::vector<std::uint8_t>{1, 0, 1}),
            (std::vector<std::uint8_t>{1, 0, 1}));
}

TEST_P(StripShape, SelectTakesTheFirstValueWhereTheMaskIsSet) {
  const std::vector<std::uint8_t> mask = {1, 0, 0, 1, 1};
  const auto a = counting<std::int64_t>(5, 10), b = counting<std::int64_t>(5, -10);
  for (unsigned scalars = 0; scalars < 8; ++scalars) {
    const auto got = run<std::int64_t>(
        {.op = StripOp::select, .lane = Lane::i64, .scalar_operands = static_cast<std::uint8_t>(scalars)}, mask, a, b);
    for (std::size_t i = 0; i < 5; ++i) {
      const bool yes = mask[scalars & 1 ? 0 : i] != 0;
      ASSERT_EQ(got[i], yes ? a[scalars & 2 ? 0 : i] : b[scalars & 4 ? 0 : i]) << scalars;
    }
  }
}

/// `kernel` with its result over its first operand, in a register with room for both.
template <class To, class From>
std::vector<To> run_in_place(const StripKey& key, const std::vector<From>& a, const void* b = nullptr,
                             const void* c = nullptr) {
  const auto shared = make_register<std::uint64_t>({}, kStripLanes);
  std::memcpy(shared.get(), a.data(), a.size() * sizeof(From));
  find_strip(key)(shared.get(), shared.get(), b, c, a.size());
  std::vector<To> results(a.size());
  std::memcpy(results.data(), shared.get(), a.size() * sizeof(To));
  return results;
}

TEST_P(StripShape, ResultMayReplaceAnOperandOfAnyWidth) {
  const auto bytes = counting<std::int8_t>(kStripLanes, 0);
  const auto wide = run_in_place<std::int64_t>({.op = StripOp::convert, .lane = Lane::i64, .from = Lane::i8}, bytes);
  const auto words = counting<std::int64_t>(kStripLanes, 0);
  const auto narrow = run_in_place<std::int8_t>({.op = StripOp::convert, .lane = Lane::i8, .from = Lane::i64}, words);
  const auto limit = make_register(std::vector<std::int64_t>(kStripLanes, 100), kStripLanes);
  const auto less = run_in_place<std::uint8_t>(
      {.op = StripOp::compare, .lane = Lane::i64, .predicate = Predicate::less}, words, limit.get());
  std::vector<std::uint8_t> mask(kStripLanes);
  for (std::size_t i = 0; i < kStripLanes; ++i) mask[i] = i % 3 == 0;
  const auto yes = make_register(counting<float>(kStripLanes, 0), kStripLanes);
  const auto no = make_register(counting<float>(kStripLanes, 1000), kStripLanes);
  const auto chosen = run_in_place<float>({.op = StripOp::select}, mask, yes.get(), no.get());
  for (std::size_t i = 0; i < kStripLanes; ++i) {
    ASSERT_EQ(wide[i], bytes[i]);
    ASSERT_EQ(narrow[i], bytes[i]);
    ASSERT_EQ(less[i], i < 100);
    ASSERT_EQ(chosen[i], (i % 3 == 0 ? 0.0F : 1000.0F) + static_cast<float>(i));
  }
}

TEST_P(StripShape, OperationsThatALaneLacksHaveNoKernel) {
  EXPECT_EQ(find_strip({.op = StripOp::exp, .lane = Lane::i32}), nullptr);
  EXPECT_EQ(find_strip({.op = StripOp::shl, .lane = Lane::f32}), nullptr);
  EXPECT_EQ(find_strip({.op = StripOp::round_to, .lane = Lane::f64, .element = ElementType::f16}), nullptr);
}

}  // namespace
}  // namespace tilegym::cpu::testing
