#include <gtest/gtest.h>

#include <vector>

#include "tile_ir/goldens.h"
#include "tile_ir/module_bytes.h"
#include "tile_ir/reader.h"

namespace tilegym::tile_ir {

namespace {

using test::Bytes;
using test::ModuleBytes;
using Bits = std::vector<std::uint64_t>;

constexpr std::uint8_t kI1 = 0, kI32 = 3, kF32 = 7, kTf32 = 8, kF4 = 19;

Result<Module> module_of(std::uint8_t element, std::initializer_list<std::int64_t> shape, const Bytes& elements) {
  ModuleBytes module;
  const auto tile = static_cast<std::uint8_t>(module.tile(module.element(element), shape));
  const auto value = static_cast<std::uint8_t>(module.constant(elements));
  module.function(module.function_type({}), {0x10, tile, value, 0x5c, 0, 0});
  return read_module(module.build());
}

/// Every element of the module's one constant; `splat` is what the attribute says about it.
Bits elements_of(const Result<Module>& module, bool splat) {
  if (!module.ok()) {
    ADD_FAILURE() << module.error().message;
    return {};
  }
  const Function& kernel = module->functions.at(0);
  const Operation& constant = *test::find_all(kernel, Opcode::Constant).at(0);
  const Attribute& value = *constant.find(AttrName::value);
  const Type& tile = module->type_of(kernel, constant.results.at(0));
  EXPECT_EQ(value.splat, splat);
  Bits bits;
  for (std::int64_t i = 0; i < tile.element_count(); ++i) {
    bits.push_back(element_bits(tile, value.bytes, value.splat, static_cast<std::size_t>(i)));
  }
  return bits;
}

std::string error_of(const Result<Module>& module) {
  return module.ok() ? "" : test::refusal_of(module);
}

// The expected elements are what NVIDIA's disassembler prints for the same bytes.

TEST(DenseConstant, OneElementStandsForAll) {
  EXPECT_EQ(elements_of(module_of(kI32, {4}, {1, 0, 0, 0x80}), true), Bits(4, 0x80000001));
}

TEST(DenseConstant, ElementsLieInRowMajorOrder) {
  const Bytes elements = {0, 0, 0x80, 0x3f, 0, 0, 0, 0x40};
  EXPECT_EQ(elements_of(module_of(kF32, {1, 2}, elements), false), Bits({0x3f800000, 0x40000000}));
}

TEST(DenseConstant, RankZeroIsASplat) {
  EXPECT_EQ(elements_of(module_of(kI32, {}, {7, 0, 0, 0}), true), Bits({7}));
}

TEST(DenseConstant, BitsAreNumberedFromTheLowest) {
  EXPECT_EQ(elements_of(module_of(kI1, {8}, {0xa5}), false), Bits({1, 0, 1, 0, 0, 1, 0, 1}));
}

TEST(DenseConstant, BitsGoOnInTheNextByte) {
  Bits wanted(16, 0);
  wanted.front() = wanted.back() = 1;
  EXPECT_EQ(elements_of(module_of(kI1, {16}, {0x01, 0x80}), false), wanted);
}

TEST(DenseConstant, OneByteOfOnesIsASplatOfTrue) {
  EXPECT_EQ(elements_of(module_of(kI1, {8}, {0xff}), true), Bits(8, 1));
}

TEST(DenseConstant, OneByteForMoreThanEightBitsIsASplat) {
  EXPECT_EQ(elements_of(module_of(kI1, {16}, {0x01}), true), Bits(16, 1));
}

TEST(DenseConstant, OnlyTheLowestBitOfASplatCounts) {
  EXPECT_EQ(elements_of(module_of(kI1, {}, {0x02}), true), Bits({0}));
}

TEST(DenseConstant, Tf32TakesThreeBytes) {
  EXPECT_EQ(elements_of(module_of(kTf32, {2}, {0x00, 0xfc, 0x01}), true), Bits(2, 0x1fc00));
}

TEST(DenseConstant, FourBitFloatsTakeTheLowHalfOfAByte) {
  EXPECT_EQ(elements_of(module_of(kF4, {2}, {0x52, 0x05}), false), Bits({2, 5}));
}

TEST(DenseConstant, RefusesAnyOtherLength) {
  EXPECT_EQ(error_of(module_of(kI32, {4}, Bytes(8))),
            "tile_ir: value of constant: wanted one element of the tile or all, got 8 at byte 48");
}

TEST(DenseConstant, RefusesAByteForEveryBit) {
  EXPECT_EQ(error_of(module_of(kI1, {8}, Bytes(8))),
            "tile_ir: value of constant: wanted one element of the tile or all, got 8 at byte 48");
}

}  // namespace

}  // namespace tilegym::tile_ir
