#include <gtest/gtest.h>

#include <vector>

#include "cpu_driver/engine/kernel_builder.h"

namespace tilegym::cpu::testing {
namespace {

ValueId permute(KernelBuilder& k, ValueId value, const std::vector<std::int64_t>& permutation) {
  Shape shape;
  for (const std::int64_t d : permutation) shape.push_back(k.type_of(value).shape[static_cast<std::size_t>(d)]);
  const ValueId result = k.op(Opcode::Permute, {value}, k.tile(k.type_of(value).element, shape));
  tile_ir::Attribute attribute;
  attribute.numbers = permutation;
  k.last().attributes.push_back({AttrName::permutation, attribute});
  return result;
}

/// Stores what `change` makes of a loaded tile holding 0, 1, 2, ...
template <class Change>
std::vector<float> changed(const Shape& shape, std::size_t count, const Change& change) {
  KernelBuilder k;
  const ValueId out = k.pointer_parameter(ElementType::f32);
  std::size_t loaded = 1;
  for (const std::int64_t extent : shape) loaded *= static_cast<std::size_t>(extent);
  k.store(out, change(k, k.load(k.pointer_parameter(ElementType::f32), shape)));
  const std::vector<float> source = ramp(loaded);
  std::vector<float> result(count, -1);
  run_ok(k, {result.data(), source.data()});
  return result;
}

TEST(Layout, PermuteOfALoad) {
  const auto result = changed({2, 3, 4}, 24, [](KernelBuilder& k, ValueId x) { return permute(k, x, {2, 0, 1}); });
  for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(result[i], static_cast<float>(i % 6 * 4 + i / 6)) << i;
}

TEST(Layout, PermuteOfAComputedTile) {
  const auto result = changed(
      {4, 64}, 256, [](KernelBuilder& k, ValueId x) { return permute(k, k.same(Opcode::AddF, {x, x}), {1, 0}); });
  for (std::size_t i = 0; i < 256; ++i) EXPECT_EQ(result[i], 2 * static_cast<float>(i % 4 * 64 + i / 4)) << i;
}

TEST(Layout, ReshapeKeepsTheRowMajorOrder) {
  const auto result = changed({4, 8}, 32, [](KernelBuilder& k, ValueId x) {
    return permute(k, k.reshape(k.same(Opcode::AddF, {x, x}), {2, 16}), {1, 0});
  });
  for (std::size_t i = 0; i < 32; ++i) EXPECT_EQ(result[i], 2 * static_cast<float>(i % 2 * 16 + i / 2)) << i;
}

TEST(Layout, BroadcastAlongEitherDimension) {
  const auto result = changed({4}, 16, [](KernelBuilder& k, ValueId x) {
    const ValueId column = k.broadcast(k.reshape(k.same(Opcode::AddF, {x, x}), {4, 1}), {4, 4});
    const ValueId row = k.broadcast(k.reshape(x, {1, 4}), {4, 4});
    return k.same(Opcode::SubF, {column, row});
  });
  for (std::size_t i = 0; i < 16; ++i)
    EXPECT_EQ(result[i], 2 * static_cast<float>(i / 4) - static_cast<float>(i % 4)) << i;
}

TEST(Layout, CatJoinsAlongTheDimension) {
  const auto join = [](std::uint64_t dim, const Shape& shape) {
    return changed({2, 2}, 8, [&](KernelBuilder& k, ValueId x) {
      return k.op(Opcode::Cat, {x, k.same(Opcode::NegF, {x})}, k.tile(ElementType::f32, shape), {{AttrName::dim, dim}});
    });
  };
  EXPECT_EQ(join(0, {4, 2}), (std::vector<float>{0, 1, 2, 3, -0.0F, -1, -2, -3}));
  EXPECT_EQ(join(1, {2, 4}), (std::vector<float>{0, 1, -0.0F, -1, 2, 3, -2, -3}));
}

TEST(Layout, ExtractTakesTheIndexedSlice) {
  const auto result = changed({4, 8}, 8, [](KernelBuilder& k, ValueId x) {
    return k.op(Opcode::Extract, {x, k.int_constant(1), k.int_constant(0)}, k.tile(ElementType::f32, {2, 4}));
  });
  EXPECT_EQ(result, (std::vector<float>{16, 17, 18, 19, 24, 25, 26, 27}));
}

TEST(Layout, DenseConstantIsATile) {
  KernelBuilder k;
  const ValueId out = k.pointer_parameter(ElementType::f32);
  const ValueId table = k.constant<float>(k.tile(ElementType::f32, {4}), {3, 1, 4, 1});
  k.store(out, k.same(Opcode::MulF, {table, table}));
  std::vector<float> result(4);
  run_ok(k, {result.data()});
  EXPECT_EQ(result, (std::vector<float>{9, 1, 16, 1}));
}

}  // namespace
}  // namespace tilegym::cpu::testing
