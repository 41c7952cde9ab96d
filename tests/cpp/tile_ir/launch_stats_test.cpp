#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tile_ir/goldens.h"
#include "tile_ir/reader.h"
#include "tile_ir/stats.h"

// Expected numbers are counted by hand from what NVIDIA's disassembler prints.
namespace tilegym::tile_ir {

namespace {

Stats stats_of(const std::string& golden, const LaunchValues& launch) {
  const Module module = test::read_golden(golden);
  Result<Stats> stats = launch_stats(module, module.functions.at(0), launch);
  EXPECT_TRUE(stats.ok()) << stats.error().message;
  return std::move(stats).value();
}

TEST(LaunchStats, CountsTilesOfAPointerKernel) {
  // Two loads and one store of 8192 f16; in f32 per element: mulf, exp2, addf, divf, mulf, mulf.
  const Stats stats = stats_of("cutile_silu_and_mul_f16", {.grid = {3, 2, 1}, .arguments = {}});
  EXPECT_EQ(stats.bytes_read, 6u * 2 * 8192 * 2);
  EXPECT_EQ(stats.bytes_written, 6u * 8192 * 2);
  EXPECT_EQ(stats.flops.at("f32"), 6u * 6 * 8192);
  EXPECT_TRUE(stats.notes.empty());
}

/// One launch of a module of the op library, and what it does.
struct OpLaunch {
  const char* golden;
  std::array<std::int64_t, 3> grid;
  std::vector<std::pair<std::size_t, std::int64_t>> arguments;
  std::uint64_t flops;
  std::uint64_t matrix_flops;
  std::uint64_t bytes_read;
  std::uint64_t bytes_written;
};

class OpLaunchStats : public testing::TestWithParam<OpLaunch> {};

TEST_P(OpLaunchStats, AreThoseCountedByHand) {
  const OpLaunch& wanted = GetParam();
  LaunchValues launch{.grid = wanted.grid, .arguments = {}};
  for (const auto& [position, value] : wanted.arguments) {
    launch.arguments.resize(std::max(launch.arguments.size(), position + 1));
    launch.arguments[position] = value;
  }
  Stats stats = stats_of(wanted.golden, launch);
  EXPECT_EQ(stats.flops["f32"], wanted.flops);
  EXPECT_EQ(stats.matrix_flops["f32"], wanted.matrix_flops);
  EXPECT_EQ(stats.bytes_read, wanted.bytes_read);
  EXPECT_EQ(stats.bytes_written, wanted.bytes_written);
  EXPECT_TRUE(stats.notes.empty());
}

// A block of attention reads a tile of queries and the sink; each turn of its loop, a tile of keys and one of values.
constexpr std::uint64_t kAttentionTurn = 4 * 64 * 64 + 2 * 64 * 63 + 5 * 64;
constexpr std::uint64_t kAttentionBlock = 1 + 3 * 64 + 2 * kAttentionTurn + 64 + 64 * 64;

INSTANTIATE_TEST_SUITE_P(
    LaunchStats, OpLaunchStats,
    testing::Values(
        // 5 rows of 1000 in tiles of 1024: two reductions, subf, exp, mulf, and a division of one element.
        OpLaunch{"op_softmax_f32", {5, 1, 1}, {}, 5 * (2 * 1023 + 3 * 1024 + 1), 0, 5 * 4096, 5 * 4096},
        // 3 rows of 256 + 256: negf, exp, addf, divf, mulf.
        OpLaunch{"op_silu_and_mul_f32", {3, 1, 1}, {}, 3 * 5 * 256, 0, 3 * 2 * 1024, 3 * 1024},
        // 4 rows of 300 in tiles of 512: the same.
        OpLaunch{"op_swiglu_f32", {4, 1, 1}, {}, 4 * 5 * 512, 0, 4 * 2 * 2048, 4 * 2048},
        // 200 x 150 by 150 x 100: 2 tiles of 128 x 128, each 3 steps of 64.
        OpLaunch{"op_matmul_f32",
                 {2, 1, 1},
                 {{15, 200}, {16, 100}, {17, 150}},
                 0,
                 2ull * 3 * 2 * 128 * 128 * 64,
                 2ull * 3 * 2 * 128 * 64 * 4,
                 2ull * 128 * 128 * 4},
        // The same 3 times, on fewer tile blocks than there are tiles.
        OpLaunch{"op_bmm_f32",
                 {4, 1, 1},
                 {{21, 3}, {22, 200}, {23, 100}, {24, 150}},
                 0,
                 6ull * 3 * 2 * 128 * 128 * 64,
                 6ull * 3 * 2 * 128 * 64 * 4,
                 6ull * 128 * 128 * 4},
        // 64 queries from position 64 on, 128 keys, 4 heads, no window: 2 turns.
        OpLaunch{"op_attention_sink_f32",
                 {1, 4, 1},
                 {{44, 64}, {45, 128}, {46, 2}, {47, 0}},
                 4 * kAttentionBlock,
                 4ull * 2 * 2 * 2 * 64 * 64 * 64,
                 4ull * (4 + 64 * 64 * 4 * (1 + 2 * 2)),
                 4ull * 64 * 64 * 4}),
    [](const auto& launch) { return std::string(launch.param.golden); });

TEST(LaunchStats, FollowsALoopUntilItBreaks) {
  LaunchValues launch;
  launch.arguments.assign(7, std::nullopt);
  launch.arguments[6] = 3;
  EXPECT_EQ(stats_of("cutile_python_loops_and_branches_13_3", launch).executed.at("addf"), 3u);
  launch.arguments[6] = 100;
  EXPECT_EQ(stats_of("cutile_python_loops_and_branches_13_3", launch).executed.at("addf"), 8u);
}

TEST(LaunchStats, FollowsBlocksThatDiffer) {
  LaunchValues launch{.grid = {8, 1, 1}, .arguments = std::vector<std::optional<std::int64_t>>(7)};
  launch.arguments[6] = 0;
  // Only blocks 0 to 4 store.
  EXPECT_EQ(stats_of("cutile_python_loops_and_branches_13_3", launch).executed.at("store_view_tko"), 5u);
}

TEST(LaunchStats, SaysWhatItCannotFollow) {
  const Stats stats = stats_of("cutile_python_loops_and_branches_13_3", {});
  EXPECT_FALSE(stats.notes.empty());
}

TEST(LaunchStats, EndsForEveryGolden) {
  for (const std::string& name : test::golden_names()) {
    if (const Module module = test::read_golden(name); !module.functions.empty()) {
      EXPECT_TRUE(launch_stats(module, module.functions[0], {.grid = {1 << 30, 1 << 30, 4}, .arguments = {}}).ok());
    }
  }
}

TEST(LaunchStats, RefusesAnEmptyGrid) {
  const Module module = test::read_golden("hand_made_names");
  const Result<Stats> stats = launch_stats(module, module.functions.at(0), {.grid = {1, 0, 1}, .arguments = {}});
  ASSERT_FALSE(stats.ok());
  EXPECT_EQ(stats.error().message, "tile_ir: grid: wanted extents of at least 1, got 0");
}

}  // namespace

}  // namespace tilegym::tile_ir
