#include <gtest/gtest.h>

#include <vector>

#include "cpu_driver/engine/kernel_builder.h"

namespace tilegym::cpu::testing {
namespace {

struct Sizes {
  std::int64_t m, n, k;
};

/// c = a * b with small integers, so that every format is exact.
std::vector<double> product(const Sizes& s, const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<double> c(static_cast<std::size_t>(s.m * s.n));
  for (std::int64_t i = 0; i < s.m; ++i) {
    for (std::int64_t j = 0; j < s.n; ++j) {
      for (std::int64_t q = 0; q < s.k; ++q) {
        c[static_cast<std::size_t>(i * s.n + j)] +=
            static_cast<double>(a[static_cast<std::size_t>(i * s.k + q)]) * b[static_cast<std::size_t>(q * s.n + j)];
      }
    }
  }
  return c;
}

std::vector<float> small_integers(std::int64_t count, int step) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(static_cast<int>(i) * step % 7 - 3);
  return values;
}

template <class T>
std::vector<T> as(const std::vector<float>& values) {
  std::vector<T> result;
  for (const float value : values) result.push_back(static_cast<T>(value));
  return result;
}

/// One product of whole tiles loaded from row-major memory; `change` may rewrite the operands first.
template <class T>
void expect_product(const Sizes& s, ElementType element, ElementType sum) {
  KernelBuilder k;
  const ValueId out = k.pointer_parameter(ElementType::f32);
  const ValueId a = k.load(k.pointer_parameter(element), {s.m, s.k});
  const ValueId b = k.load(k.pointer_parameter(element), {s.k, s.n});
  const ValueId zero = k.op(Opcode::IToF, {k.splat(k.int_constant(1), {s.m, s.n})}, k.tile(sum, {s.m, s.n}));
  const ValueId c = k.op(Opcode::MmaF, {a, b, zero}, k.tile(sum, {s.m, s.n}));
  k.store(out, sum == ElementType::f32 ? c : k.op(Opcode::FToF, {c}, k.tile(ElementType::f32, {s.m, s.n})));
  const std::vector<float> left = small_integers(s.m * s.k, 3);
  const std::vector<float> right = small_integers(s.k * s.n, 5);
  const auto stored_left = as<T>(left);
  const auto stored_right = as<T>(right);
  std::vector<float> result(static_cast<std::size_t>(s.m * s.n));
  run_ok(k, {result.data(), stored_left.data(), stored_right.data()});
  const std::vector<double> expected = product(s, left, right);
  for (std::size_t i = 0; i < result.size(); ++i) ASSERT_EQ(result[i], expected[i] + 1) << i;
}

TEST(Mma, SinglePrecision) {
  expect_product<float>({32, 64, 16}, ElementType::f32, ElementType::f32);
}
TEST(Mma, HalfPrecision) {
  expect_product<_Float16>({16, 16, 32}, ElementType::f16, ElementType::f32);
}
TEST(Mma, HalfPrecisionSum) {
  expect_product<_Float16>({16, 16, 32}, ElementType::f16, ElementType::f16);
}
TEST(Mma, DoublePrecision) {
  expect_product<double>({8, 8, 8}, ElementType::f64, ElementType::f64);
}
TEST(Mma, OneRow) {
  expect_product<float>({1, 32, 8}, ElementType::f32, ElementType::f32);
}

TEST(Mma, BytesSumToIntegers) {
  KernelBuilder k;
  const Sizes s{8, 16, 32};
  const ValueId out = k.pointer_parameter(ElementType::i32);
  const ValueId a = k.load(k.pointer_parameter(ElementType::i8), {s.m, s.k});
  const ValueId b = k.load(k.pointer_parameter(ElementType::i8), {s.k, s.n});
  const ValueId zero = k.splat(k.int_constant(0), {s.m, s.n});
  k.store(out, k.op(Opcode::MmaI, {a, b, zero}, k.tile(ElementType::i32, {s.m, s.n}),
                    {{AttrName::signedness_lhs, 1}, {AttrName::signedness_rhs, 1}}));
  const std::vector<float> left = small_integers(s.m * s.k, 3);
  const std::vector<float> right = small_integers(s.k * s.n, 5);
  std::vector<std::int32_t> result(static_cast<std::size_t>(s.m * s.n));
  run_ok(k, {result.data(), as<std::int8_t>(left).data(), as<std::int8_t>(right).data()});
  const std::vector<double> expected = product(s, left, right);
  for (std::size_t i = 0; i < result.size(); ++i) ASSERT_EQ(result[i], expected[i]) << i;
}

/// c = a * b tile by tile with a loop over k; `strides` of a and b as memory has them.
std::vector<float> tiled(const Sizes& s, Shape a_strides, Shape b_strides, const std::vector<float>& a,
                         const std::vector<float>& b) {
  KernelBuilder k;
  const TypeId a_type = k.tensor_view(ElementType::f32, {s.m, s.k}, std::move(a_strides));
  const TypeId b_type = k.tensor_view(ElementType::f32, {s.k, s.n}, std::move(b_strides));
  const TypeId c_type = k.tensor_view(ElementType::f32, {s.m, s.n}, {s.n, 1});
  const auto view = [&](TypeId type, Shape tile) {
    return k.make_partition(k.make_tensor_view(k.pointer_parameter(ElementType::f32), type),
                            k.partition(type, std::move(tile)));
  };
  const ValueId c_view = view(c_type, {16, 16});
  const ValueId a_view = view(a_type, {16, 8});
  const ValueId b_view = view(b_type, {8, 16});
  const auto [x, y, z] = k.block_id();
  const TypeId sum = k.tile(ElementType::f32, {16, 16});
  const ValueId steps = k.int_constant(static_cast<std::int32_t>((s.k + 7) / 8));
  const Values total =
      k.for_loop(k.int_constant(0), steps, k.int_constant(1), {k.constant<float>(sum, {0})}, [&](const Values& v) {
        k.terminate(Opcode::Continue,
                    {k.op(Opcode::MmaF, {k.load_view(a_view, {y, v[0]}), k.load_view(b_view, {v[0], x}), v[1]}, sum)});
      });
  k.store_view(total[0], c_view, {y, x});
  std::vector<float> result(static_cast<std::size_t>(s.m * s.n));
  run_ok(k, {result.data(), a.data(), b.data()},
         {static_cast<std::uint32_t>((s.n + 15) / 16), static_cast<std::uint32_t>((s.m + 15) / 16), 1});
  return result;
}

std::vector<float> transposed(const std::vector<float>& values, std::int64_t rows, std::int64_t columns) {
  std::vector<float> result(values.size());
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    result[static_cast<std::size_t>(i % columns * rows + i / columns)] = values[static_cast<std::size_t>(i)];
  }
  return result;
}

TEST(Mma, LoopOverViewsWithPartialTiles) {
  const Sizes s{40, 24, 20};
  const std::vector<float> a = small_integers(s.m * s.k, 3);
  const std::vector<float> b = small_integers(s.k * s.n, 5);
  const std::vector<double> expected = product(s, a, b);
  const std::vector<float> result = tiled(s, {s.k, 1}, {s.n, 1}, a, b);
  for (std::size_t i = 0; i < result.size(); ++i) ASSERT_EQ(result[i], expected[i]) << i;
}

TEST(Mma, ColumnMajorOperandsAreCopied) {
  const Sizes s{32, 48, 16};
  const std::vector<float> a = small_integers(s.m * s.k, 3);
  const std::vector<float> b = small_integers(s.k * s.n, 5);
  const std::vector<double> expected = product(s, a, b);
  const std::vector<float> result = tiled(s, {1, s.m}, {1, s.k}, transposed(a, s.m, s.k), transposed(b, s.k, s.n));
  for (std::size_t i = 0; i < result.size(); ++i) ASSERT_EQ(result[i], expected[i]) << i;
}

TEST(Mma, BatchesAreIndependent) {
  KernelBuilder k;
  const ValueId out = k.pointer_parameter(ElementType::f32);
  const ValueId a = k.load(k.pointer_parameter(ElementType::f32), {2, 4, 8});
  const ValueId b = k.load(k.pointer_parameter(ElementType::f32), {2, 8, 16});
  const TypeId sum = k.tile(ElementType::f32, {2, 4, 16});
  k.store(out, k.op(Opcode::MmaF, {a, b, k.constant<float>(sum, {0})}, sum));
  const std::vector<float> left = small_integers(64, 3);
  const std::vector<float> right = small_integers(256, 5);
  std::vector<float> result(128);
  run_ok(k, {result.data(), left.data(), right.data()});
  const auto half = [](const std::vector<float>& v, std::size_t i) {
    const auto size = static_cast<std::ptrdiff_t>(v.size() / 2);
    return std::vector<float>(v.begin() + size * static_cast<std::ptrdiff_t>(i),
                              v.begin() + size * static_cast<std::ptrdiff_t>(i + 1));
  };
  for (std::size_t batch = 0; batch < 2; ++batch) {
    const std::vector<double> expected = product({4, 16, 8}, half(left, batch), half(right, batch));
    for (std::size_t i = 0; i < 64; ++i) ASSERT_EQ(result[batch * 64 + i], expected[i]) << batch << ' ' << i;
  }
}

/// (1 + 2^-12) times whole numbers: tf32 drops the fraction's last bit, so the product shows who was rounded.
void expect_rounded_operands(bool used_again) {
  const Sizes s{8, 16, 4};
  KernelBuilder k;
  const ValueId out = k.pointer_parameter(ElementType::f32);
  const ValueId rounded_out = k.pointer_parameter(ElementType::f32);
  const auto rounded = [&](ValueId value, Shape shape) {
    return k.op(Opcode::FToF, {value}, k.tile(ElementType::tf32, std::move(shape)));
  };
  const ValueId a = rounded(k.load(k.pointer_parameter(ElementType::f32), {s.m, s.k}), {s.m, s.k});
  const ValueId loaded = k.load(k.pointer_parameter(ElementType::f32), {s.k, s.n});
  const ValueId b = rounded(k.same(Opcode::AddF, {loaded, loaded}), {s.k, s.n});
  const TypeId sum = k.tile(ElementType::f32, {s.m, s.n});
  k.store(out, k.op(Opcode::MmaF, {a, b, k.constant<float>(sum, {0})}, sum));
  if (used_again) k.store(rounded_out, k.op(Opcode::FToF, {a}, k.tile(ElementType::f32, {s.m, s.k})));
  const std::vector<float> left = small_integers(s.m * s.k, 3);
  const std::vector<float> right = small_integers(s.k * s.n, 5);
  std::vector<float> fine_left = left;
  std::vector<float> fine_right = right;
  for (float& x : fine_left) x *= 1 + 0x1p-12F;
  for (float& x : fine_right) x *= (1 + 0x1p-12F) / 2;
  std::vector<float> result(static_cast<std::size_t>(s.m * s.n));
  std::vector<float> rounded_result(left.size());
  run_ok(k, {result.data(), rounded_result.data(), fine_left.data(), fine_right.data()});
  EXPECT_EQ(rounded_result, used_again ? left : std::vector<float>(left.size()));
  const std::vector<double> expected = product(s, left, right);
  for (std::size_t i = 0; i < result.size(); ++i) ASSERT_EQ(result[i], expected[i]) << i;
}

TEST(Mma, OperandsRoundedToTf32AreReadThroughTheRounding) {
  expect_rounded_operands(false);
}
TEST(Mma, RoundedOperandThatIsUsedAgainIsKept) {
  expect_rounded_operands(true);
}

TEST(Mma, SumThatIsUsedAgainIsNotOverwritten) {
  KernelBuilder k;
  const ValueId out = k.pointer_parameter(ElementType::f32);
  const TypeId square = k.tile(ElementType::f32, {8, 8});
  const ValueId a = k.load(k.pointer_parameter(ElementType::f32), {8, 8});
  const ValueId start = k.same(Opcode::AddF, {a, a});
  const ValueId sum = k.op(Opcode::MmaF, {a, a, start}, square);
  k.store(out, k.same(Opcode::SubF, {sum, start}));
  const std::vector<float> in = small_integers(64, 3);
  std::vector<float> result(64);
  run_ok(k, {result.data(), in.data()});
  const std::vector<double> expected = product({8, 8, 8}, in, in);
  for (std::size_t i = 0; i < 64; ++i) ASSERT_EQ(result[i], expected[i]) << i;
}

}  // namespace
}  // namespace tilegym::cpu::testing
