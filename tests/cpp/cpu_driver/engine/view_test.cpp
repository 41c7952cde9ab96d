#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "cpu_driver/engine/kernel_builder.h"

namespace tilegym::cpu::testing {
namespace {

using tile_ir::kDynamic;
using tile_ir::Padding;

/// Doubles a [5, 7] tensor with row stride 9 tile by tile through partition views of `tile_shape`.
std::vector<float> doubled(const Shape& tile_shape, Grid grid) {
  KernelBuilder k;
  const TypeId tensor = k.tensor_view(ElementType::f32, {kDynamic, kDynamic}, {kDynamic, 1});
  const TypeId tiles = k.partition(tensor, tile_shape);
  const ValueId rows = k.int_constant(5);
  const ValueId columns = k.int_constant(7);
  const ValueId stride = k.int_constant(9);
  const auto view = [&] {
    return k.make_partition(
        k.make_tensor_view(k.pointer_parameter(ElementType::f32), tensor, {rows, columns}, {stride}), tiles);
  };
  const ValueId out = view();
  const ValueId in = view();
  const auto [x, y, z] = k.block_id();
  const ValueId tile = k.load_view(in, {y, x});
  k.store_view(k.same(Opcode::AddF, {tile, tile}), out, {y, x});
  const std::vector<float> source = ramp(45);
  std::vector<float> result(45, -1);
  run_ok(k, {result.data(), source.data()}, grid);
  return result;
}

TEST(View, TilesPastTheEdgeAreNeitherReadNorWritten) {
  for (const auto& [shape, grid] : {std::pair{Shape{2, 4}, Grid{2, 3, 1}}, std::pair{Shape{8, 8}, Grid{1, 1, 1}},
                                    std::pair{Shape{1, 16}, Grid{1, 5, 1}}, std::pair{Shape{16, 1}, Grid{7, 1, 1}}}) {
    const std::vector<float> result = doubled(shape, grid);
    for (std::size_t i = 0; i < 45; ++i) EXPECT_EQ(result[i], i % 9 < 7 ? 2 * static_cast<float>(i) : -1.0F) << i;
  }
}

TEST(View, IndexOutsideTheIndexSpaceTouchesNothing) {
  const std::vector<float> result = doubled({2, 4}, {4, 6, 1});
  for (std::size_t i = 0; i < 45; ++i) EXPECT_EQ(result[i], i % 9 < 7 ? 2 * static_cast<float>(i) : -1.0F) << i;
}

/// One [4] tile at index 1 of a tensor with 6 elements: two of them lie outside.
std::vector<float> padded(Padding padding) {
  KernelBuilder k;
  const TypeId tensor = k.tensor_view(ElementType::f32, {6}, {1});
  const ValueId out = k.pointer_parameter(ElementType::f32);
  const ValueId in = k.make_tensor_view(k.pointer_parameter(ElementType::f32), tensor);
  k.store(out, k.load_view(k.make_partition(in, k.partition(tensor, {4}, {}, padding)), {k.int_constant(1)}));
  const std::vector<float> source = ramp(6);
  std::vector<float> result(4);
  run_ok(k, {result.data(), source.data()});
  return result;
}

TEST(View, PaddingFillsWhatLiesOutside) {
  EXPECT_EQ(padded(Padding::zero), (std::vector<float>{4, 5, 0, 0}));
  EXPECT_EQ(padded(Padding::neg_inf), (std::vector<float>{4, 5, -INFINITY, -INFINITY}));
  EXPECT_EQ(padded(Padding::pos_inf), (std::vector<float>{4, 5, INFINITY, INFINITY}));
  EXPECT_TRUE(std::isnan(padded(Padding::nan)[3]));
  EXPECT_TRUE(std::signbit(padded(Padding::neg_zero)[2]));
}

TEST(View, DimensionMapTransposesTheTile) {
  KernelBuilder k;
  const TypeId tensor = k.tensor_view(ElementType::f32, {4, 8}, {8, 1});
  const ValueId out = k.pointer_parameter(ElementType::f32);
  const ValueId in = k.make_tensor_view(k.pointer_parameter(ElementType::f32), tensor);
  // Tile dimension 0 walks tensor dimension 1: index (1, 0) is columns 4..7, rows 0..1.
  const ValueId view = k.make_partition(in, k.partition(tensor, {4, 2}, {1, 0}));
  k.store(out, k.load_view(view, {k.int_constant(1), k.int_constant(0)}));
  const std::vector<float> source = ramp(32);
  std::vector<float> result(8);
  run_ok(k, {result.data(), source.data()});
  EXPECT_EQ(result, (std::vector<float>{4, 12, 5, 13, 6, 14, 7, 15}));
}

TEST(View, IndexSpaceCountsPartialTiles) {
  KernelBuilder k;
  const TypeId tensor = k.tensor_view(ElementType::f32, {kDynamic, 8}, {8, 1});
  const ValueId out = k.pointer_parameter(ElementType::i32);
  const ValueId rows = k.parameter(k.tile(ElementType::i32));
  const ValueId view = k.make_tensor_view(k.pointer_parameter(ElementType::f32), tensor, {rows});
  const TypeId i32 = k.tile(ElementType::i32);
  const ValueId tiles = k.make_partition(view, k.partition(tensor, {4, 8}));
  const Values space = k.add(Opcode::GetIndexSpaceShape, {tiles}, {i32, i32}).results;
  const Values shape = k.add(Opcode::GetTensorShape, {view}, {i32, i32}).results;
  k.store(out, k.same(Opcode::AddI, {space[0], k.same(Opcode::MulI, {shape[0], k.int_constant(100)})}));
  const auto kernel = k.lower();
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  std::int32_t result = 0;
  std::int32_t* pointer = &result;
  const std::int32_t nine = 9;
  const float* unused = nullptr;
  ASSERT_EQ(run(*kernel.value(), {&pointer, &nine, &unused}).outcome, Outcome::ok);
  EXPECT_EQ(result, 903);
}

}  // namespace
}  // namespace tilegym::cpu::testing
