#include <string>

#include "cpu_driver/api/driver_test.h"

namespace tilegym::cpu::test {
namespace {

using Kind = BlockOrder::Kind;

class LaunchSchedule : public DriverTest {
 protected:
  void TearDown() override {
    table().configure("order", "forward");
    table().configure("threads", "0");
    table().set_launch_schedule(nullptr);
    DriverTest::TearDown();
  }

  /// What the next launch gets.
  LaunchOptions next_options(CUstream stream = nullptr) {
    LaunchOptions seen;
    const CUfunction function = make_function([&](auto, auto, const LaunchOptions& options) {
      seen.threads = options.threads;
      seen.order = options.order;
      return LaunchResult{};
    });
    EXPECT_EQ(launch(function, stream), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
    return seen;
  }
};

TEST_F(LaunchSchedule, ReachesTheNextLaunchOnly) {
  const ScheduleRow row{2, 3, 99};
  ASSERT_EQ(table().set_launch_schedule(&row), CUDA_SUCCESS);
  const LaunchOptions seen = next_options();
  EXPECT_EQ(seen.threads, 3);
  EXPECT_EQ(seen.order, (BlockOrder{Kind::shuffled, 99}));
  EXPECT_EQ(next_options().order, BlockOrder{});
}

TEST_F(LaunchSchedule, ReachesAQueuedLaunch) {
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
  const ScheduleRow row{1, 2, 0};
  ASSERT_EQ(table().set_launch_schedule(&row), CUDA_SUCCESS);
  const LaunchOptions seen = next_options(stream);
  EXPECT_EQ(seen.threads, 2);
  EXPECT_EQ(seen.order.kind, Kind::reversed);
  cuStreamDestroy_v2(stream);
}

TEST_F(LaunchSchedule, IsConsumedByALaunchThatFails) {
  const ScheduleRow row{1, 0, 0};
  ASSERT_EQ(table().set_launch_schedule(&row), CUDA_SUCCESS);
  EXPECT_NE(launch(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(next_options().order.kind, Kind::forward);
}

TEST_F(LaunchSchedule, ThreadsOfZeroAreTheDevicesOption) {
  ASSERT_EQ(table().configure("threads", "5"), CUDA_SUCCESS);
  const ScheduleRow row{1, 0, 0};
  ASSERT_EQ(table().set_launch_schedule(&row), CUDA_SUCCESS);
  EXPECT_EQ(next_options().threads, 5);
}

TEST_F(LaunchSchedule, OptionIsTheDefault) {
  ASSERT_EQ(table().configure("order", "shuffled:12"), CUDA_SUCCESS);
  EXPECT_EQ(next_options().order, (BlockOrder{Kind::shuffled, 12}));
}

TEST_F(LaunchSchedule, UnknownOrdersAreRefused) {
  const ScheduleRow row{3, 0, 0};
  EXPECT_EQ(table().set_launch_schedule(&row), CUDA_ERROR_INVALID_VALUE);
  for (const char* text : {"", "backward", "shuffled", "shuffled:", "shuffled:-1", "shuffled:1x"}) {
    EXPECT_EQ(table().configure("order", text), CUDA_ERROR_INVALID_VALUE) << text;
  }
  EXPECT_EQ(last_report(), "configure: order: wanted forward, reversed or shuffled:SEED, got 'shuffled:1x'");
}

}  // namespace
}  // namespace tilegym::cpu::test
