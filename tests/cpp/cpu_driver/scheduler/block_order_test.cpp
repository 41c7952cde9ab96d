#include "cpu_driver/engine/block_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace tilegym::cpu {
namespace {

using Kind = BlockOrder::Kind;

std::vector<std::uint64_t> blocks_in(BlockOrder order, std::uint64_t count) {
  const BlockSequence sequence(order, count);
  std::vector<std::uint64_t> blocks(count);
  for (std::uint64_t i = 0; i < count; ++i) blocks[i] = sequence.block_at(i);
  return blocks;
}

std::vector<std::uint64_t> counting(std::uint64_t count) {
  std::vector<std::uint64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

TEST(BlockOrder, ForwardCounts) {
  EXPECT_EQ(blocks_in({Kind::forward, 0}, 5), counting(5));
}

TEST(BlockOrder, ReversedCountsDown) {
  EXPECT_EQ(blocks_in({Kind::reversed, 0}, 4), (std::vector<std::uint64_t>{3, 2, 1, 0}));
}

class ShuffledCounts : public testing::TestWithParam<std::uint64_t> {};

TEST_P(ShuffledCounts, HoldEveryBlockOnce) {
  for (const std::uint64_t seed : {0U, 1U, 77U}) {
    auto blocks = blocks_in({Kind::shuffled, seed}, GetParam());
    std::sort(blocks.begin(), blocks.end());
    EXPECT_EQ(blocks, counting(GetParam())) << "seed " << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(BlockOrder, ShuffledCounts, testing::Values(1, 2, 3, 4, 5, 16, 17, 255, 256, 257, 4099));

TEST(BlockOrder, SeedChoosesTheShuffle) {
  const auto blocks = blocks_in({Kind::shuffled, 1}, 100);
  EXPECT_EQ(blocks, blocks_in({Kind::shuffled, 1}, 100));
  EXPECT_NE(blocks, blocks_in({Kind::shuffled, 2}, 100));
  EXPECT_NE(blocks, counting(100));
}

TEST(BlockOrder, LargestGridStaysInRange) {
  constexpr std::uint64_t kBlocks = std::uint64_t{2147483647} * 65535 * 65535;
  const BlockSequence sequence({Kind::shuffled, 3}, kBlocks);
  for (const std::uint64_t position : {std::uint64_t{0}, std::uint64_t{1}, kBlocks / 2, kBlocks - 1}) {
    EXPECT_LT(sequence.block_at(position), kBlocks);
  }
}

}  // namespace
}  // namespace tilegym::cpu
