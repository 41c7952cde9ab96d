#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>

#include "cpu_driver/api/driver_test.h"
#include "cpu_driver/engine/memory_map.h"

namespace tilegym::cpu::test {
namespace {

/// What a kernel saw of its memory map.
struct Seen {
  bool has_map = false;
  std::string described;
};

class LaunchRanges : public DriverTest {
 protected:
  CUfunction probe() {
    return make_function([this](auto, auto, const LaunchOptions& options) {
      seen_.has_map = options.memory != nullptr;
      seen_.described = seen_.has_map ? options.memory->describe(1104) : "";
      return LaunchResult{Outcome::illegal_address, "load_ptr_tko: " + seen_.described};
    });
  }

  Seen seen_;
};

constexpr const char* kDescribed = "address 0x450, nearest to argument 'x' (100 bytes): 4 bytes past the end";

void set_range() {
  const std::array<RangeRow, 1> rows{{{1000, 100, "x"}}};
  ASSERT_EQ(table().set_launch_ranges(rows.data(), rows.size(), "softmax"), CUDA_SUCCESS);
}

TEST_F(LaunchRanges, WithoutThemThereIsNoMap) {
  launch(probe());
  EXPECT_FALSE(seen_.has_map);
}

TEST_F(LaunchRanges, ReachTheKernelAndTheReportNamesTheOp) {
  set_range();
  EXPECT_EQ(launch(probe()), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(last_report(), std::string("softmax: load_ptr_tko: ") + kDescribed);
}

TEST_F(LaunchRanges, EmptyListMeansNoAccessibleMemory) {
  ASSERT_EQ(table().set_launch_ranges(nullptr, 0, "op"), CUDA_SUCCESS);
  launch(probe());
  EXPECT_EQ(seen_.described, "address 0x450: the launch has no accessible memory");
}

TEST_F(LaunchRanges, AreConsumedByOneLaunch) {
  set_range();
  launch(probe());
  launch(probe());
  EXPECT_FALSE(seen_.has_map);
}

TEST_F(LaunchRanges, AreConsumedByARefusedLaunch) {
  set_range();
  EXPECT_EQ(launch(nullptr), CUDA_ERROR_INVALID_HANDLE);
  launch(probe());
  EXPECT_FALSE(seen_.has_map);
}

TEST_F(LaunchRanges, AreConsumedByARefusedExtendedLaunch) {
  set_range();
  EXPECT_EQ(cuLaunchKernelEx(nullptr, probe(), nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  launch(probe());
  EXPECT_FALSE(seen_.has_map);
}

TEST_F(LaunchRanges, BelongToTheirThread) {
  std::thread(set_range).join();
  launch(probe());
  EXPECT_FALSE(seen_.has_map);
}

TEST_F(LaunchRanges, AreCopiedForAQueuedLaunch) {
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
  Gate gate;
  launch(make_function([&](auto, auto, const auto&) { return gate.wait(), LaunchResult{}; }), stream);
  {
    std::string name = "x";
    std::string op = "softmax";
    const std::array<RangeRow, 1> rows{{{1000, 100, name.c_str()}}};
    ASSERT_EQ(table().set_launch_ranges(rows.data(), rows.size(), op.c_str()), CUDA_SUCCESS);
    launch(probe(), stream);
    name = op = "overwritten";
  }
  gate.open();
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(last_report(), std::string("softmax: load_ptr_tko: ") + kDescribed);
}

TEST_F(LaunchRanges, BeyondTheAddressSpaceAreRefused) {
  const std::array<RangeRow, 1> rows{{{UINT64_MAX - 4, 8, "x"}}};
  EXPECT_EQ(table().set_launch_ranges(rows.data(), 1, "op"), CUDA_ERROR_INVALID_VALUE);
  launch(probe());
  EXPECT_FALSE(seen_.has_map);
}

TEST_F(LaunchRanges, WithoutANameAreRefused) {
  const std::array<RangeRow, 1> rows{{{8, 8, nullptr}}};
  EXPECT_EQ(table().set_launch_ranges(rows.data(), 1, "op"), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(LaunchRanges, NullRowsAreRefused) {
  EXPECT_EQ(table().set_launch_ranges(nullptr, 1, "op"), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace tilegym::cpu::test
