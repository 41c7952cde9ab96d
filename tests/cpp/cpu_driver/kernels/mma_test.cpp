#include <array>

#include "cpu_driver/kernels/support.h"

namespace tilegym::cpu::testing {
namespace {

struct Shape {
  std::int64_t m, n, k;
};
constexpr Shape kShapes[] = {{1, 1, 1},    {1, 64, 3},   {2, 2, 2},    {7, 33, 5},    {16, 16, 16},
                             {13, 8, 9},   {64, 48, 7},  {128, 4, 1},  {30, 100, 31}, {6, 16, 64},
                             {16, 16, 32}, {48, 80, 64}, {64, 32, 128}};

/// Small integers, exact in every operand format and in every order of summation.
std::vector<int> small_integers(std::size_t count, int low, int high, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> between(low, high);
  std::vector<int> values(count);
  for (int& value : values) value = between(random);
  return values;
}

/// rows x columns in the element's format, `stride` apart: the memory ends with the last element of the last row.
Buffer<std::uint8_t> make_matrix(ElementType element, const std::vector<int>& values, std::int64_t columns,
                                 std::int64_t stride) {
  const auto rows = static_cast<std::int64_t>(values.size()) / columns;
  const auto bytes = static_cast<std::int64_t>(tile_ir::byte_size(element));
  auto memory =
      make_memory(std::vector<std::uint8_t>(static_cast<std::size_t>(((rows - 1) * stride + columns) * bytes), 0xff));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t at = static_cast<std::int64_t>(i) / columns * stride + static_cast<std::int64_t>(i) % columns;
    alignas(kVectorBytes) double lane[8] = {};
    const float single = static_cast<float>(values[i]);
    const double twice = values[i];
    const auto byte = static_cast<std::uint8_t>(values[i]);
    if (element == ElementType::f64)
      std::memcpy(lane, &twice, sizeof twice);
    else if (element == ElementType::i8)
      std::memcpy(lane, &byte, sizeof byte);
    else
      std::memcpy(lane, &single, sizeof single);
    find_store(element)(memory.get() + at * bytes, lane, 1);
  }
  return memory;
}

template <class C>
void expect_product(const MmaKey& key, Shape s, int a_low, int a_high, int b_low, int b_high) {
  const std::int64_t a_stride = s.k + 3, b_stride = s.n + 5;
  const auto x = small_integers(static_cast<std::size_t>(s.m * s.k), a_low, a_high, 1);
  const auto y = small_integers(static_cast<std::size_t>(s.k * s.n), b_low, b_high, 2);
  const auto a = make_matrix(key.a, x, s.k, a_stride), b = make_matrix(key.a, y, s.n, b_stride);
  const auto c = make_memory(std::vector<C>(static_cast<std::size_t>(s.m * s.n), C{3}));
  const std::size_t bytes = mma_scratch_bytes(key, s.m, s.n, s.k);
  const auto scratch = make_register(std::vector<std::uint8_t>{}, bytes);
  find_mma(key)(c.get(), {a.get(), a_stride}, {b.get(), b_stride}, s.m, s.n, s.k, scratch.get());
  for (std::int64_t i = 0; i < s.m; ++i) {
    for (std::int64_t j = 0; j < s.n; ++j) {
      std::int64_t sum = 3;
      for (std::int64_t p = 0; p < s.k; ++p) sum += std::int64_t{x[i * s.k + p]} * y[p * s.n + j];
      ASSERT_EQ(c[i * s.n + j], static_cast<C>(sum)) << tile_ir::name(key.a) << " " << s.m << "x" << s.n << "x" << s.k;
    }
  }
}

using Mma = KernelTest;
TILEGYM_AT_EVERY_LEVEL(Mma);

TEST_P(Mma, FloatsOfEveryShapeAndStrideAreExactOnIntegers) {
  for (const Shape& shape : kShapes) {
    for (const ElementType element : {ElementType::f32, ElementType::tf32, ElementType::bf16, ElementType::f16,
                                      ElementType::f8e4m3fn, ElementType::f8e5m2}) {
      expect_product<float>({.a = element}, shape, -4, 4, -4, 4);
    }
    expect_product<double>({.a = ElementType::f64, .accumulator = ElementType::f64}, shape, -99, 99, -99, 99);
  }
}

TEST_P(Mma, BytesMultiplyInEverySignedness) {
  for (const Shape& shape : kShapes) {
    for (const bool lhs : {false, true}) {
      for (const bool rhs : {false, true}) {
        const MmaKey key{.a = ElementType::i8,
                         .accumulator = ElementType::i32,
                         .lhs = lhs ? Signedness::signed_ : Signedness::unsigned_,
                         .rhs = rhs ? Signedness::signed_ : Signedness::unsigned_};
        expect_product<std::int32_t>(key, shape, lhs ? -128 : 0, lhs ? 127 : 255, rhs ? -128 : 0, rhs ? 127 : 255);
      }
    }
  }
}

TEST_P(Mma, ExtremeBytesDoNotSaturate) {
  expect_product<std::int32_t>({.a = ElementType::i8, .accumulator = ElementType::i32}, {4, 8, 64}, -128, -128, -128,
                               -128);
}

TEST_P(Mma, RandomFloatsStayWithinTheErrorOfSummation) {
  const Shape s{33, 47, 129};
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  std::vector<float> a(s.m * s.k), b(s.k * s.n), c(s.m * s.n, 0);
  for (float& x : a) x = normal(random);
  for (float& x : b) x = normal(random);
  const auto scratch = make_register(std::vector<std::uint8_t>{}, mma_scratch_bytes({}, s.m, s.n, s.k));
  find_mma({})(c.data(), {a.data(), s.k}, {b.data(), s.n}, s.m, s.n, s.k, scratch.get());
  for (std::int64_t i = 0; i < s.m; ++i) {
    for (std::int64_t j = 0; j < s.n; ++j) {
      double sum = 0, size = 0;
      for (std::int64_t p = 0; p < s.k; ++p) {
        sum += double{a[i * s.k + p]} * b[p * s.n + j];
        size += std::fabs(double{a[i * s.k + p]} * b[p * s.n + j]);
      }
      ASSERT_NEAR(c[i * s.n + j], sum, size * static_cast<double>(s.k) * 0x1p-24);
    }
  }
}

/// To 11 significant bits, ties to even, by the C library.
float as_tf32(float value) {
  int exponent = 0;
  const double fraction = std::frexp(static_cast<double>(value), &exponent);
  return static_cast<float>(std::ldexp(std::nearbyint(std::ldexp(fraction, 11)), exponent - 11));
}

TEST_P(Mma, Tf32RoundsOperandsWhileItReadsThem) {
  const Shape s{13, 35, 1};  // one product an element: no rounding of the sum hides that of the operands
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  std::vector<float> a(s.m), b(s.n), c(s.m * s.n, 0);
  for (float& x : a) x = normal(random);
  for (float& x : b) x = normal(random);
  a[0] = 1 + 0x1p-11F;  // a tie, to even
  const MmaKey key{.a = ElementType::tf32};
  const auto scratch = make_register(std::vector<std::uint8_t>{}, mma_scratch_bytes(key, s.m, s.n, s.k));
  find_mma(key)(c.data(), {a.data(), s.k}, {b.data(), s.n}, s.m, s.n, s.k, scratch.get());
  for (std::int64_t i = 0; i < s.m; ++i) {
    for (std::int64_t j = 0; j < s.n; ++j) ASSERT_EQ(c[i * s.n + j], as_tf32(a[i]) * as_tf32(b[j])) << i << ", " << j;
  }
}

TEST_P(Mma, NanAndInfinityReachTheirRowsAndColumnsOnly) {
  std::vector<float> a(4 * 3, 1), b(3 * 5, 1), c(4 * 5, 0);
  a[1 * 3 + 2] = NAN;
  b[0 * 5 + 4] = INFINITY;
  const auto scratch = make_register(std::vector<std::uint8_t>{}, mma_scratch_bytes({}, 4, 5, 3));
  find_mma({})(c.data(), {a.data(), 3}, {b.data(), 5}, 4, 5, 3, scratch.get());
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 5; ++j) {
      const float wanted = i == 1 ? NAN : (j == 4 ? INFINITY : 3.0F);
      EXPECT_TRUE(same(c[i * 5 + j], wanted)) << i << ", " << j;
    }
  }
}

TEST_P(Mma, EmptySumLeavesTheAccumulator) {
  std::vector<float> c(6, 2);
  const auto scratch = make_register(std::vector<std::uint8_t>{}, mma_scratch_bytes({}, 2, 3, 0));
  find_mma({})(c.data(), {nullptr, 0}, {nullptr, 3}, 2, 3, 0, scratch.get());
  EXPECT_EQ(c, std::vector<float>(6, 2));
}

TEST_P(Mma, UnsupportedTypesHaveNoKernel) {
  EXPECT_EQ(find_mma({.a = ElementType::i32, .accumulator = ElementType::i32}), nullptr);
  EXPECT_EQ(mma_scratch_bytes({.a = ElementType::i32}, 8, 8, 8), 0U);
}

}  // namespace
}  // namespace tilegym::cpu::testing
