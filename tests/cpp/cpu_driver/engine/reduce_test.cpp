#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "cpu_driver/engine/kernel_builder.h"

namespace tilegym::cpu::testing {
namespace {

std::vector<float> noise(std::size_t count) {
  std::vector<float> values(count);
  std::uint32_t state = 12345;
  for (float& value : values) {
    state = state * 1664525 + 1013904223;
    value = static_cast<float>(state >> 8) / 16777216.0F - 0.5F;
  }
  return values;
}

/// Sums a tile of `shape` along `dim` and stores the result row-major.
std::vector<float> sum_along(const Shape& shape, std::int64_t dim, const std::vector<float>& in) {
  KernelBuilder k;
  const ValueId out = k.pointer_parameter(ElementType::f32);
  const ValueId x = k.load(k.pointer_parameter(ElementType::f32), shape);
  k.store(out, k.reduce(x, dim, 0, Opcode::AddF));
  std::vector<float> result(in.size() / static_cast<std::size_t>(shape[static_cast<std::size_t>(dim)]));
  run_ok(k, {result.data(), in.data()});
  return result;
}

struct Case {
  Shape shape;
  std::int64_t dim;
};

class ReduceShapes : public ::testing::TestWithParam<Case> {};

TEST_P(ReduceShapes, SumsEqualDoubleSums) {
  const auto& [shape, dim] = GetParam();
  const auto axis = static_cast<std::size_t>(dim);
  const auto count =
      static_cast<std::size_t>(std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies{}));
  const std::vector<float> in = noise(count);
  const std::vector<float> out = sum_along(shape, dim, in);
  std::size_t inner = 1;
  for (std::size_t d = axis + 1; d < shape.size(); ++d) inner *= static_cast<std::size_t>(shape[d]);
  const auto extent = static_cast<std::size_t>(shape[axis]);
  for (std::size_t i = 0; i < out.size(); ++i) {
    double expected = 0;
    for (std::size_t r = 0; r < extent; ++r) expected += in[(i / inner * extent + r) * inner + i % inner];
    EXPECT_NEAR(out[i], expected, 1e-6 * static_cast<double>(extent)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ReduceShapes,
                         ::testing::Values(Case{{1024}, 0}, Case{{64}, 0}, Case{{2}, 0}, Case{{8, 512}, 1},
                                           Case{{8, 512}, 0}, Case{{16, 4}, 1}, Case{{16, 4}, 0}, Case{{4, 8, 16}, 0},
                                           Case{{4, 8, 16}, 1}, Case{{4, 8, 16}, 2}, Case{{4, 16, 2}, 1},
                                           Case{{1, 512}, 1}, Case{{512, 1}, 0}, Case{{8, 1, 32}, 1}));

TEST(Reduce, MaximumStartsFromItsIdentity) {
  KernelBuilder k;
  const ValueId out = k.pointer_parameter(ElementType::f32);
  const ValueId x = k.load(k.pointer_parameter(ElementType::f32), {2, 256});
  k.store(out, k.reduce(x, 1, -std::numeric_limits<double>::infinity(), Opcode::MaxF));
  std::vector<float> in(512, -std::numeric_limits<float>::infinity());
  in[300] = -4;
  std::vector<float> result(2);
  run_ok(k, {result.data(), in.data()});
  EXPECT_EQ(result, (std::vector<float>{-std::numeric_limits<float>::infinity(), -4}));
}

TEST(Reduce, IntegersWrap) {
  KernelBuilder k;
  const ValueId out = k.pointer_parameter(ElementType::i32);
  const ValueId x = k.load(k.pointer_parameter(ElementType::i32), {512});
  k.store(out, k.reduce(x, 0, 0, Opcode::AddI));
  const std::vector<std::int32_t> in(512, 1 << 24);
  std::int32_t result = -1;
  run_ok(k, {&result, in.data()});
  EXPECT_EQ(result, 0);
}

TEST(Reduce, IndexOfTheMaximumNeedsTwoOperands) {
  KernelBuilder k;
  const ValueId out = k.pointer_parameter(ElementType::i32);
  const ValueId x = k.load(k.pointer_parameter(ElementType::f32), {4, 512});
  const ValueId index = k.broadcast(k.reshape(k.positions({512}), {1, 512}), {4, 512});
  const TypeId f32 = k.tile(ElementType::f32);
  const TypeId i32 = k.tile(ElementType::i32);
  const auto body = [&](const Values& a) {
    const ValueId larger = k.op(Opcode::CmpF, {a[0], a[1]}, k.tile(ElementType::i1),
                                {{AttrName::comparison_predicate, 4}, {AttrName::comparison_ordering, 1}});
    k.terminate(Opcode::Yield,
                {k.op(Opcode::Select, {larger, a[0], a[1]}, f32), k.op(Opcode::Select, {larger, a[2], a[3]}, i32)});
  };
  const Values results =
      k.region_op(Opcode::Reduce, {x, index}, {2}, {k.tile(ElementType::f32, {4}), k.tile(ElementType::i32, {4})},
                  {{{f32, f32, i32, i32}, body}});
  tile_ir::Attribute identities;
  identities.children = {float_identity(f32, ElementType::f32, -std::numeric_limits<double>::infinity()),
                         float_identity(i32, ElementType::i32, -1)};
  tile_ir::Attribute dim;
  dim.integer = 1;
  k.last().attributes = {{AttrName::dim, dim}, {AttrName::identities, identities}};
  k.store(out, results[1]);
  std::vector<float> in = noise(2048);
  for (std::size_t row = 0; row < 4; ++row) in[row * 512 + 100 * row + 7] = 2;
  std::vector<std::int32_t> result(4);
  run_ok(k, {result.data(), in.data()});
  EXPECT_EQ(result, (std::vector<std::int32_t>{7, 107, 207, 307}));
}

TEST(Reduce, ValueUsedAgainIsKept) {
  // softmax: the row is read for the maximum and for the powers, the powers for the sum and for the result.
  KernelBuilder k;
  const ValueId out = k.pointer_parameter(ElementType::f32);
  const ValueId x = k.load(k.pointer_parameter(ElementType::f32), {4, 512});
  const auto spread = [&](ValueId row) { return k.broadcast(k.reshape(row, {4, 1}), {4, 512}); };
  const ValueId largest = k.reduce(x, 1, -std::numeric_limits<double>::infinity(), Opcode::MaxF);
  const ValueId powers = k.same(Opcode::Exp, {k.same(Opcode::SubF, {x, spread(largest)})});
  const ValueId sum = k.reduce(powers, 1, 0, Opcode::AddF);
  k.store(out, k.same(Opcode::DivF, {powers, spread(sum)}));
  const std::vector<float> in = noise(2048);
  std::vector<float> result(2048);
  run_ok(k, {result.data(), in.data()});
  for (std::size_t row = 0; row < 4; ++row) {
    double total = 0;
    for (std::size_t i = 0; i < 512; ++i) total += std::exp(static_cast<double>(in[row * 512 + i]));
    for (std::size_t i = 0; i < 512; ++i)
      EXPECT_NEAR(result[row * 512 + i], std::exp(static_cast<double>(in[row * 512 + i])) / total, 1e-8);
  }
}

TEST(Reduce, OneThreadEqualsManyBitForBit) {
  const auto sums = [](int threads) {
    KernelBuilder k;
    const ValueId out = k.pointer_parameter(ElementType::f32);
    const ValueId in = k.pointer_parameter(ElementType::f32);
    const ValueId block = k.block_id()[0];
    const ValueId start = k.same(Opcode::MulI, {block, k.int_constant(1024)});
    const ValueId index = k.same(Opcode::AddI, {k.positions({1024}), k.splat(start, {1024})});
    const ValueId sum = k.reduce(k.load_ptr(k.offsets(in, index)), 0, 0, Opcode::AddF);
    k.store_ptr(k.same(Opcode::Offset, {out, block}), sum);
    const std::vector<float> values = noise(64 * 1024);
    std::vector<float> result(64);
    run_ok(k, {result.data(), values.data()}, {64, 1, 1}, threads);
    return result;
  };
  EXPECT_EQ(sums(1), sums(4));
}

}  // namespace
}  // namespace tilegym::cpu::testing
