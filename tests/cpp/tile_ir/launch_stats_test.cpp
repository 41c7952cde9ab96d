#include <gtest/gtest.h>

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
