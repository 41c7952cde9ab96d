#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "cpu_driver/engine/kernel_builder.h"

namespace tilegym::cpu::testing {
namespace {

constexpr std::uint64_t kLess = 2;
constexpr std::uint64_t kGreaterEqual = 5;

ValueId compare(KernelBuilder& k, ValueId a, ValueId b, std::uint64_t predicate) {
  return k.op(Opcode::CmpI, {a, b}, k.tile(ElementType::i1, k.type_of(a).shape),
              {{AttrName::comparison_predicate, predicate}, {AttrName::signedness, 1}});
}

/// out[i] = in[i] for begin <= i < end over a tile of `count`, other lanes -1 by padding and then all lanes stored.
std::vector<float> masked_copy(std::int64_t count, std::int32_t begin, std::int32_t end) {
  KernelBuilder k;
  const ValueId out = k.pointer_parameter(ElementType::f32);
  const ValueId in = k.pointer_parameter(ElementType::f32);
  const ValueId index = k.positions({count});
  const ValueId low = compare(k, index, k.splat(k.int_constant(begin), {count}), kGreaterEqual);
  const ValueId high = compare(k, index, k.splat(k.int_constant(end), {count}), kLess);
  const ValueId mask = k.same(Opcode::AndI, {low, high});
  const ValueId padding = k.constant<float>(k.tile(ElementType::f32, {count}), {-1});
  k.store(out, k.load_ptr(k.offsets(in, index), {mask}, {padding}));
  const std::vector<float> source = ramp(static_cast<std::size_t>(count));
  std::vector<float> result(static_cast<std::size_t>(count), -7);
  run_ok(k, {result.data(), source.data()});
  return result;
}

class MaskedLoad : public ::testing::TestWithParam<std::pair<int, int>> {};

TEST_P(MaskedLoad, PadsLanesOutsideTheRange) {
  const auto [begin, end] = GetParam();
  const std::vector<float> result = masked_copy(512, begin, end);
  for (int i = 0; i < 512; ++i) {
    EXPECT_EQ(result[static_cast<std::size_t>(i)], i >= begin && i < end ? static_cast<float>(i) : -1.0F) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Ranges, MaskedLoad,
                         ::testing::Values(std::pair{0, 512}, std::pair{0, 300}, std::pair{0, 0}, std::pair{3, 259},
                                           std::pair{100, 101}, std::pair{300, 600}, std::pair{-5, 256}));

TEST(MemoryAccess, MaskedLanesAreNotStored) {
  KernelBuilder k;
  const ValueId out = k.pointer_parameter(ElementType::i32);
  const ValueId index = k.positions({64});
  const ValueId mask = compare(k, index, k.splat(k.int_constant(5), {64}), kLess);
  k.store_ptr(k.offsets(out, index), index, {mask});
  std::vector<std::int32_t> result(64, -1);
  run_ok(k, {result.data()});
  for (std::int32_t i = 0; i < 64; ++i) EXPECT_EQ(result[static_cast<std::size_t>(i)], i < 5 ? i : -1);
}

TEST(MemoryAccess, MaskFromDataSelectsLanes) {
  KernelBuilder k;
  const ValueId out = k.pointer_parameter(ElementType::f32);
  const ValueId x = k.load(k.pointer_parameter(ElementType::f32), {300});
  const ValueId zero = k.constant<float>(k.tile(ElementType::f32, {300}), {0});
  const ValueId positive = k.op(Opcode::CmpF, {x, zero}, k.tile(ElementType::i1, {300}),
                                {{AttrName::comparison_predicate, 4}, {AttrName::comparison_ordering, 1}});
  k.store_ptr(k.offsets(out, k.positions({300})), x, {positive});
  const std::vector<float> in = ramp(300, 1, -150);
  std::vector<float> result(300, 9);
  run_ok(k, {result.data(), in.data()});
  for (std::size_t i = 0; i < 300; ++i) EXPECT_EQ(result[i], in[i] > 0 ? in[i] : 9.0F) << i;
}

TEST(MemoryAccess, GathersThroughAnIndexTile) {
  KernelBuilder k;
  const ValueId out = k.pointer_parameter(ElementType::f16);
  const ValueId in = k.pointer_parameter(ElementType::f16);
  const ValueId index = k.load(k.pointer_parameter(ElementType::i32), {300});
  k.store(out, k.load_ptr(k.offsets(in, index)));
  std::vector<_Float16> source(1000);
  std::vector<std::int32_t> indices(300);
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<_Float16>(i);
  for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<std::int32_t>(i * 7919 % 1000);
  std::vector<_Float16> result(300);
  run_ok(k, {result.data(), source.data(), indices.data()});
  for (std::size_t i = 0; i < 300; ++i) EXPECT_EQ(static_cast<float>(result[i]), static_cast<float>(indices[i]));
}

TEST(MemoryAccess, StridedPointersSkipElements) {
  KernelBuilder k;
  const ValueId out = k.pointer_parameter(ElementType::f32);
  const ValueId in = k.pointer_parameter(ElementType::f32);
  const ValueId stride = k.parameter(k.tile(ElementType::i32));
  const ValueId index = k.same(Opcode::MulI, {k.positions({128}), k.splat(stride, {128})});
  k.store_ptr(k.offsets(out, index), k.load_ptr(k.offsets(in, index)));
  const std::vector<float> source = ramp(384);
  std::vector<float> result(384, -1);
  const std::int32_t three = 3;
  float* target = result.data();
  const float* from = source.data();
  const auto kernel = k.lower();
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  ASSERT_EQ(run(*kernel.value(), {&target, &from, &three}).outcome, Outcome::ok);
  for (std::size_t i = 0; i < 384; ++i) EXPECT_EQ(result[i], i % 3 == 0 ? source[i] : -1.0F) << i;
}

TEST(MemoryAccess, RowAndColumnMasksCombine) {
  KernelBuilder k;
  const ValueId out = k.pointer_parameter(ElementType::f32);
  const ValueId in = k.pointer_parameter(ElementType::f32);
  const ValueId rows = k.broadcast(k.reshape(k.positions({8}), {8, 1}), {8, 16});
  const ValueId columns = k.broadcast(k.reshape(k.positions({16}), {1, 16}), {8, 16});
  const ValueId width = k.splat(k.int_constant(10), {8, 16});
  const ValueId index = k.same(Opcode::AddI, {k.same(Opcode::MulI, {rows, width}), columns});
  const ValueId mask = k.same(
      Opcode::AndI, {compare(k, rows, k.splat(k.int_constant(7), {8, 16}), kLess), compare(k, columns, width, kLess)});
  const ValueId x = k.load_ptr(k.offsets(in, index), {mask});
  k.store_ptr(k.offsets(out, index), k.same(Opcode::AddF, {x, x}), {mask});
  const std::vector<float> source = ramp(70);
  std::vector<float> result(80, -1);
  run_ok(k, {result.data(), source.data()});
  for (std::size_t i = 0; i < 80; ++i) EXPECT_EQ(result[i], i < 70 ? 2 * source[i] : -1.0F) << i;
}

TEST(MemoryAccess, LoadBeforeAStoreKeepsItsValue) {
  KernelBuilder k;
  const ValueId p = k.pointer_parameter(ElementType::f32);
  const ValueId q = k.pointer_parameter(ElementType::f32);
  const ValueId old = k.load(p, {512});
  k.store(p, k.constant<float>(k.tile(ElementType::f32, {512}), {5}));
  k.store(q, old);
  std::vector<float> memory = ramp(512);
  std::vector<float> result(512);
  run_ok(k, {memory.data(), result.data()});
  EXPECT_EQ(result, ramp(512));
  EXPECT_EQ(memory, std::vector<float>(512, 5));
}

TEST(MemoryAccess, BlocksFindTheirOwnPart) {
  KernelBuilder k;
  const ValueId out = k.pointer_parameter(ElementType::i32);
  const auto [x, y, z] = k.block_id();
  const ValueId line = k.same(
      Opcode::AddI, {x, k.same(Opcode::MulI, {k.same(Opcode::AddI, {y, k.same(Opcode::MulI, {z, k.int_constant(3)})}),
                                              k.int_constant(2)})});
  const ValueId index =
      k.same(Opcode::AddI, {k.positions({4}), k.splat(k.same(Opcode::MulI, {line, k.int_constant(4)}), {4})});
  k.store_ptr(k.offsets(out, index), index);
  std::vector<std::int32_t> result(96, -1);
  run_ok(k, {result.data()}, {2, 3, 4}, 2);
  for (std::int32_t i = 0; i < 96; ++i) EXPECT_EQ(result[static_cast<std::size_t>(i)], i);
}

}  // namespace
}  // namespace tilegym::cpu::testing
