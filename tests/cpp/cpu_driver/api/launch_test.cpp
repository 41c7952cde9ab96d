#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "cpu_driver/api/driver_test.h"

namespace tilegym::cpu::test {
namespace {

class Launch : public DriverTest {};

struct Shape {
  std::array<unsigned, 3> grid;
  std::array<unsigned, 3> block;
  unsigned shared;
};

CUresult launch_shape(const Shape& shape) {
  const CUfunction function = make_function(outcome(Outcome::ok));
  const auto& [grid, block, shared] = shape;
  return cuLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2], shared, nullptr, nullptr,
                        nullptr);
}

TEST_F(Launch, GridReachesTheKernel) {
  Grid seen{};
  const CUfunction function = make_function([&](Grid grid, std::span<const void* const>, const LaunchOptions&) {
    seen = grid;
    return LaunchResult{};
  });
  EXPECT_EQ(cuLaunchKernel(function, 4, 3, 2, 1, 1, 1, 0, nullptr, nullptr, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(seen, (Grid{4, 3, 2}));
}

TEST_F(Launch, LargestGridIsAccepted) {
  EXPECT_EQ(launch_shape({{2147483647, 65535, 65535}, {1, 1, 1}, 0}), CUDA_SUCCESS);
}

class BadShape : public Launch, public testing::WithParamInterface<Shape> {};

TEST_P(BadShape, IsRefusedWithAReport) {
  EXPECT_EQ(launch_shape(GetParam()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_NE(last_report().find("wanted"), std::string::npos) << last_report();
}

INSTANTIATE_TEST_SUITE_P(Launch, BadShape,
                         testing::Values(Shape{{0, 1, 1}, {1, 1, 1}, 0}, Shape{{1, 0, 1}, {1, 1, 1}, 0},
                                         Shape{{1, 1, 0}, {1, 1, 1}, 0}, Shape{{2147483648, 1, 1}, {1, 1, 1}, 0},
                                         Shape{{1, 65536, 1}, {1, 1, 1}, 0}, Shape{{1, 1, 65536}, {1, 1, 1}, 0},
                                         Shape{{1, 1, 1}, {2, 1, 1}, 0}, Shape{{1, 1, 1}, {1, 0, 1}, 0},
                                         Shape{{1, 1, 1}, {1, 1, 1}, 232449}));

/// A kernel (i32, i64, pointer) that stores what it got.
struct Values {
  std::int32_t small = 0;
  std::int64_t large = 0;
  std::uint64_t pointer = 0;
  bool operator==(const Values&) const = default;
};

CUfunction make_recorder(Values& seen) {
  return make_function(
      [&seen](Grid, std::span<const void* const> arguments, const LaunchOptions&) {
        seen = {*static_cast<const std::int32_t*>(arguments[0]), *static_cast<const std::int64_t*>(arguments[1]),
                *static_cast<const std::uint64_t*>(arguments[2])};
        return LaunchResult{};
      },
      {{4, false}, {8, false}, {8, true}});
}

TEST_F(Launch, FlagOfTheThreadTakesThePlaceOfTheDevices) {
  const std::atomic<bool>* polled = nullptr;
  const CUfunction function = make_function([&polled](auto, auto, const LaunchOptions& options) {
    polled = options.cancel;
    return LaunchResult{};
  });
  const std::atomic<bool> own{false};
  table().watch_cancelled(&own);
  EXPECT_EQ(launch(function, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(polled, &own);
  std::thread([&] {
    cuCtxSetCurrent(context_);
    launch(function, nullptr);
  }).join();
  EXPECT_NE(polled, &own);
  table().watch_cancelled(nullptr);
  EXPECT_EQ(launch(function, nullptr), CUDA_SUCCESS);
  EXPECT_NE(polled, &own);
}

TEST_F(Launch, ArgumentsComeFromThePointerArray) {
  Values seen;
  Values given{7, -1, 0x123456789};
  EXPECT_EQ(launch(make_recorder(seen), nullptr, {&given.small, &given.large, &given.pointer}), CUDA_SUCCESS);
  EXPECT_EQ(seen, given);
}

TEST_F(Launch, ArgumentsComeFromAPackedBuffer) {
  Values seen;
  Values given{7, -1, 0x123456789};  // natural alignment is the layout of the struct
  std::size_t bytes = sizeof(given);
  std::array<void*, 5> extra{CU_LAUNCH_PARAM_BUFFER_POINTER, &given, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                             CU_LAUNCH_PARAM_END};
  EXPECT_EQ(cuLaunchKernel(make_recorder(seen), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra.data()), CUDA_SUCCESS);
  EXPECT_EQ(seen, given);
}

TEST_F(Launch, ShortPackedBufferIsRefused) {
  Values seen;
  Values given;
  std::size_t bytes = sizeof(given) - 1;
  std::array<void*, 5> extra{CU_LAUNCH_PARAM_BUFFER_POINTER, &given, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                             CU_LAUNCH_PARAM_END};
  EXPECT_EQ(cuLaunchKernel(make_recorder(seen), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra.data()),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(last_report(), "cuLaunchKernel: argument buffer of fake: wanted 24 bytes, got 23");
}

TEST_F(Launch, MissingArgumentsAreRefused) {
  Values seen;
  EXPECT_EQ(cuLaunchKernel(make_recorder(seen), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Launch, NullPointerToAnArgumentIsRefusedByIndex) {
  Values seen;
  EXPECT_EQ(launch(make_recorder(seen), nullptr, {&seen.small, nullptr, &seen.pointer}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(last_report(), "cuLaunchKernel: fake: the pointer to argument 1 is null");
}

TEST_F(Launch, QueuedLaunchCopiesItsArguments) {
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
  Gate gate;
  ASSERT_EQ(launch(make_function([&](auto, auto, const auto&) { return gate.wait(), LaunchResult{}; }), stream),
            CUDA_SUCCESS);
  Values seen;
  Values given{1, 2, 3};
  const Values copy = given;
  ASSERT_EQ(launch(make_recorder(seen), stream, {&given.small, &given.large, &given.pointer}), CUDA_SUCCESS);
  given = {};
  gate.open();
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(seen, copy);
  cuStreamDestroy_v2(stream);
}

struct OutcomeCase {
  Outcome outcome;
  CUresult code;
};
class Outcomes : public Launch, public testing::WithParamInterface<OutcomeCase> {};

TEST_P(Outcomes, BecomeTheCallsResultAndReport) {
  EXPECT_EQ(launch(make_function(outcome(GetParam().outcome, "kernel k: why"))), GetParam().code);
  EXPECT_EQ(last_report(), GetParam().outcome == Outcome::cancelled ? "cancelled: kernel k: why" : "kernel k: why");
}

TEST_P(Outcomes, OnTheDefaultStreamLeaveLaterLaunchesAlone) {
  EXPECT_EQ(launch(make_function(outcome(GetParam().outcome))), GetParam().code);
  EXPECT_EQ(launch(make_function(outcome(Outcome::ok))), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
}

INSTANTIATE_TEST_SUITE_P(Launch, Outcomes,
                         testing::Values(OutcomeCase{Outcome::illegal_address, CUDA_ERROR_ILLEGAL_ADDRESS},
                                         OutcomeCase{Outcome::assertion, CUDA_ERROR_ASSERT},
                                         OutcomeCase{Outcome::cancelled, CUDA_ERROR_LAUNCH_FAILED},
                                         OutcomeCase{Outcome::unsupported, CUDA_ERROR_NOT_SUPPORTED},
                                         OutcomeCase{Outcome::internal, CUDA_ERROR_UNKNOWN}));

TEST_F(Launch, ExceptionInAKernelBecomesAnError) {
  const CUfunction function = make_function([](auto, auto, const auto&) -> LaunchResult { throw std::bad_alloc(); });
  EXPECT_EQ(launch(function), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST_F(Launch, CancelFlagReachesTheKernel) {
  bool cancelled = false;
  const CUfunction function = make_function([&](auto, auto, const LaunchOptions& options) {
    cancelled = options.cancel->load();
    return LaunchResult{};
  });
  table().set_cancelled(1);
  EXPECT_EQ(launch(function), CUDA_SUCCESS);
  EXPECT_TRUE(cancelled);
  table().set_cancelled(0);
  EXPECT_EQ(launch(function), CUDA_SUCCESS);
  EXPECT_FALSE(cancelled);
}

TEST_F(Launch, ThreadOptionReachesTheKernel) {
  int threads = -1;
  const CUfunction function = make_function([&](auto, auto, const LaunchOptions& options) {
    threads = options.threads;
    return LaunchResult{};
  });
  ASSERT_EQ(table().configure("threads", "3"), CUDA_SUCCESS);
  EXPECT_EQ(launch(function), CUDA_SUCCESS);
  EXPECT_EQ(threads, 3);
  ASSERT_EQ(table().configure("threads", "0"), CUDA_SUCCESS);
}

TEST_F(Launch, StaleAndWildFunctionsAreRefused) {
  for (const std::uintptr_t handle : {std::uintptr_t{0}, std::uintptr_t{0x1000}, ~std::uintptr_t{0}}) {
    EXPECT_EQ(launch(reinterpret_cast<CUfunction>(handle)), CUDA_ERROR_INVALID_HANDLE);
  }
}

TEST_F(Launch, StreamHandleIsNoFunction) {
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
  EXPECT_EQ(launch(reinterpret_cast<CUfunction>(stream)), CUDA_ERROR_INVALID_HANDLE);
  cuStreamDestroy_v2(stream);
}

TEST_F(Launch, NeedsACurrentContext) {
  const CUfunction function = make_function(outcome(Outcome::ok));
  std::thread([&] { EXPECT_EQ(launch(function), CUDA_ERROR_INVALID_CONTEXT); }).join();
}

TEST_F(Launch, ExtendedLaunchTakesItsConfiguration) {
  Grid seen{};
  const CUfunction function = make_function([&](Grid grid, auto, const auto&) { return seen = grid, LaunchResult{}; });
  CUlaunchConfig config{};
  config.gridDimX = 5;
  config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
  EXPECT_EQ(cuLaunchKernelEx(&config, function, nullptr, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(seen, (Grid{5, 1, 1}));
}

TEST_F(Launch, CooperativeAttributeIsNotSupported) {
  CUlaunchAttribute attribute{};
  attribute.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  attribute.value.cooperative = 1;
  CUlaunchConfig config{1, 1, 1, 1, 1, 1, 0, nullptr, &attribute, 1};
  EXPECT_EQ(cuLaunchKernelEx(&config, make_function(outcome(Outcome::ok)), nullptr, nullptr), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(Launch, MissingAttributesAreRefused) {
  const CUlaunchConfig config{1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, 1};
  EXPECT_EQ(cuLaunchKernelEx(&config, make_function(outcome(Outcome::ok)), nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Launch, TotalsCountEveryFinishedLaunch) {
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  table().launch_totals(&before, nullptr);
  launch(make_function(outcome(Outcome::ok)));
  launch(make_function(outcome(Outcome::assertion)));
  table().launch_totals(&after, nullptr);
  EXPECT_EQ(after - before, 2U);
}

}  // namespace
}  // namespace tilegym::cpu::test
