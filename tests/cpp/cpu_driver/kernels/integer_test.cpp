#include "cpu_driver/kernels/support.h"

namespace tilegym::cpu::testing {
namespace {

__extension__ using Wide = __int128;

/// Exact on wide integers, then wrapped to T, which also says the signedness of the operands.
template <class T>
T reference(StripOp op, T a, T b) {
  constexpr int kWidth = sizeof(T) * 8;
  const std::make_unsigned_t<T> amount = b;
  const Wide x = a, y = b;
  switch (op) {
    case StripOp::add:
      return static_cast<T>(x + y);
    case StripOp::sub:
      return static_cast<T>(x - y);
    case StripOp::mul:
      return static_cast<T>(static_cast<unsigned __int128>(x) * static_cast<unsigned __int128>(y));
    case StripOp::div:
      return y == 0 ? T{0} : static_cast<T>(x / y);
    case StripOp::rem:
      return y == 0 ? T{0} : static_cast<T>(x % y);
    case StripOp::min:
      return a < b ? a : b;
    case StripOp::max:
      return a > b ? a : b;
    case StripOp::and_:
      return a & b;
    case StripOp::or_:
      return a | b;
    case StripOp::xor_:
      return a ^ b;
    case StripOp::shl:
      return amount >= kWidth ? T{0} : static_cast<T>(static_cast<unsigned __int128>(x) << amount);
    default:
      return amount >= kWidth ? static_cast<T>(x < 0 ? -1 : 0) : static_cast<T>(x >> amount);
  }
}

constexpr StripOp kOperations[] = {StripOp::add, StripOp::sub,  StripOp::mul, StripOp::div,
                                   StripOp::rem, StripOp::min,  StripOp::max, StripOp::and_,
                                   StripOp::or_, StripOp::xor_, StripOp::shl, StripOp::shr};

template <class T>
void expect_integers(Lane lane) {
  auto [a, b] = all_pairs(special_integers<T>());
  const auto x = random_values<T>(500, 1), y = random_values<T>(500, 2);
  a.insert(a.end(), x.begin(), x.end());
  b.insert(b.end(), y.begin(), y.end());
  const auto signedness = std::is_signed_v<T> ? Signedness::signed_ : Signedness::unsigned_;
  for (const StripOp op : kOperations) {
    const auto got = run<T>({.op = op, .lane = lane, .signedness = signedness}, a, b);
    for (std::size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(got[i], reference(op, a[i], b[i]))
          << "operation " << static_cast<int>(op) << " of " << +a[i] << ", " << +b[i];
    }
  }
}

using Integers = KernelTest;
TILEGYM_AT_EVERY_LEVEL(Integers);

TEST_P(Integers, WrapAndNeverTrapAtEveryWidthAndSignedness) {
  expect_integers<std::int8_t>(Lane::i8);
  expect_integers<std::uint8_t>(Lane::i8);
  expect_integers<std::int16_t>(Lane::i16);
  expect_integers<std::uint16_t>(Lane::i16);
  expect_integers<std::int32_t>(Lane::i32);
  expect_integers<std::uint32_t>(Lane::i32);
  expect_integers<std::int64_t>(Lane::i64);
  expect_integers<std::uint64_t>(Lane::i64);
}

TEST_P(Integers, DivisionRoundsAsAsked) {
  const std::vector<std::int32_t> a = {7, -7, 7, -7, 6, 5, std::numeric_limits<std::int32_t>::min()},
                                  b = {2, 2, -2, -2, 3, 0, -1};
  StripKey key{.op = StripOp::div, .lane = Lane::i32, .rounding = Rounding::negative_inf};
  EXPECT_EQ(run<std::int32_t>(key, a, b), (std::vector<std::int32_t>{3, -4, -4, 3, 2, 0, a[6]}));
  key.rounding = Rounding::positive_inf;
  EXPECT_EQ(run<std::int32_t>(key, a, b), (std::vector<std::int32_t>{4, -3, -3, 4, 2, 0, a[6]}));
}

TEST_P(Integers, HighProductIsUnsigned) {
  const std::vector<std::uint64_t> a = {~0ULL, 1ULL << 63}, b = {~0ULL, 2};
  EXPECT_EQ(run<std::uint64_t>({.op = StripOp::mulhi, .lane = Lane::i64}, a, b),
            (std::vector<std::uint64_t>{~0ULL - 1, 1}));
  const std::vector<std::uint8_t> c = {255, 16}, d = {255, 16};
  EXPECT_EQ(run<std::uint8_t>({.op = StripOp::mulhi, .lane = Lane::i8}, c, d), (std::vector<std::uint8_t>{254, 1}));
}

TEST_P(Integers, NegationAndMagnitudeWrapAtTheSmallestValue) {
  const std::int16_t smallest = std::numeric_limits<std::int16_t>::min();
  const std::vector<std::int16_t> a = {0, 5, -5, smallest};
  EXPECT_EQ(run<std::int16_t>({.op = StripOp::neg, .lane = Lane::i16}, a),
            (std::vector<std::int16_t>{0, -5, 5, smallest}));
  EXPECT_EQ(run<std::int16_t>({.op = StripOp::abs, .lane = Lane::i16}, a),
            (std::vector<std::int16_t>{0, 5, 5, smallest}));
}

TEST_P(Integers, RampCountsInSteps) {
  const StripKey key{.op = StripOp::ramp, .lane = Lane::i32, .scalar_operands = 3};
  const auto kernel = find_strip(key);
  const std::int32_t start = 10, step = -3;
  const auto out = make_register<std::int32_t>({}, 5);
  kernel(out.get(), &start, &step, nullptr, 5);
  EXPECT_EQ(std::vector<std::int32_t>(out.get(), out.get() + 5), (std::vector<std::int32_t>{10, 7, 4, 1, -2}));
}

/// i1 as a number: 1 is -1 when signed.
int i1_value(std::uint8_t bit, bool is_signed) {
  return is_signed ? -bit : bit;
}

TEST_P(Integers, MasksAreIntegersModuloTwo) {
  const std::vector<std::uint8_t> a = {0, 0, 1, 1}, b = {0, 1, 0, 1};
  for (const bool is_signed : {false, true}) {
    const auto signedness = is_signed ? Signedness::signed_ : Signedness::unsigned_;
    const auto mask = [&](StripOp op) {
      return run<std::uint8_t>({.op = op, .lane = Lane::mask, .signedness = signedness}, a, b);
    };
    for (std::size_t i = 0; i < 4; ++i) {
      const int x = i1_value(a[i], is_signed), y = i1_value(b[i], is_signed);
      EXPECT_EQ(mask(StripOp::add)[i], (x + y) & 1);
      EXPECT_EQ(mask(StripOp::mul)[i], (x * y) & 1);
      EXPECT_EQ(mask(StripOp::min)[i], std::min(x, y) & 1);
      EXPECT_EQ(mask(StripOp::max)[i], std::max(x, y) & 1);
      EXPECT_EQ(mask(StripOp::xor_)[i], a[i] ^ b[i]);
    }
  }
}

}  // namespace
}  // namespace tilegym::cpu::testing
