#include <thread>

#include "cpu_driver/api/driver_test.h"

namespace tilegym::cpu::test {
namespace {

class ContextTest : public DriverTest {};

CUcontext current() {
  CUcontext context = nullptr;
  EXPECT_EQ(cuCtxGetCurrent(&context), CUDA_SUCCESS);
  return context;
}

TEST_F(ContextTest, ThreadsEndingWithCallsStillHaveTheirContext) {
  struct Caller {
    CUcontext* found = nullptr;
    ~Caller() {
      if (found != nullptr) cuCtxGetCurrent(found);
    }
  };
  CUcontext found = nullptr;
  std::thread([&] {
    // Made first, so that it ends last.
    static thread_local Caller caller;
    caller.found = &found;
    cuCtxSetCurrent(context_);
  }).join();
  EXPECT_EQ(found, context_);
}

TEST_F(ContextTest, RetainAgainGivesTheSameContext) {
  CUcontext again = nullptr;
  EXPECT_EQ(cuDevicePrimaryCtxRetain(&again, 0), CUDA_SUCCESS);
  EXPECT_EQ(again, context_);
  EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
}

TEST_F(ContextTest, StateTellsWhetherPrimaryIsRetained) {
  int active = -1;
  EXPECT_EQ(cuDevicePrimaryCtxGetState(0, nullptr, &active), CUDA_SUCCESS);
  EXPECT_EQ(active, 1);
  cuDevicePrimaryCtxRelease_v2(0);
  EXPECT_EQ(cuDevicePrimaryCtxGetState(0, nullptr, &active), CUDA_SUCCESS);
  EXPECT_EQ(active, 0);
  cuDevicePrimaryCtxRetain(&context_, 0);
}

TEST_F(ContextTest, ReleaseBeyondRetainIsRefused) {
  EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), CUDA_ERROR_INVALID_CONTEXT);
  cuDevicePrimaryCtxRetain(&context_, 0);
}

TEST_F(ContextTest, LastReleaseEndsTheContextForOtherThreadsToo) {
  cuDevicePrimaryCtxRelease_v2(0);
  CUdeviceptr memory = 0;
  EXPECT_EQ(cuMemAlloc_v2(&memory, 16), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  cuDevicePrimaryCtxRetain(&context_, 0);
}

TEST_F(ContextTest, PushAndPopNest) {
  CUcontext made = nullptr;
  ASSERT_EQ(cuCtxCreate_v2(&made, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(current(), made);
  EXPECT_EQ(cuCtxPushCurrent_v2(context_), CUDA_SUCCESS);
  EXPECT_EQ(current(), context_);
  CUcontext popped = nullptr;
  EXPECT_EQ(cuCtxPopCurrent_v2(&popped), CUDA_SUCCESS);
  EXPECT_EQ(popped, context_);
  EXPECT_EQ(current(), made);
  EXPECT_EQ(cuCtxDestroy_v2(made), CUDA_SUCCESS);
  EXPECT_EQ(current(), context_);
}

TEST_F(ContextTest, PopOfAnEmptyStackIsRefused) {
  cuCtxSetCurrent(nullptr);
  EXPECT_EQ(cuCtxPopCurrent_v2(nullptr), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(ContextTest, NewThreadHasNoContext) {
  std::thread([] {
    EXPECT_EQ(current(), nullptr);
    CUdeviceptr memory = 0;
    EXPECT_EQ(cuMemAlloc_v2(&memory, 16), CUDA_ERROR_INVALID_CONTEXT);
  }).join();
}

TEST_F(ContextTest, WildHandleIsRefused) {
  EXPECT_EQ(cuCtxSetCurrent(reinterpret_cast<CUcontext>(0x1234)), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxDestroy_v2(reinterpret_cast<CUcontext>(~std::uintptr_t{0})), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(ContextTest, DestroyedContextCannotBeUsedAgain) {
  CUcontext made = nullptr;
  ASSERT_EQ(cuCtxCreate_v2(&made, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy_v2(made), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSetCurrent(made), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(cuCtxDestroy_v2(made), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(ContextTest, PrimaryCannotBeDestroyed) {
  EXPECT_EQ(cuCtxDestroy_v2(context_), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(current(), context_);
}

TEST_F(ContextTest, AffinityIsNotSupported) {
  CUcontext made = nullptr;
  CUexecAffinityParam affinity{};
  EXPECT_EQ(cuCtxCreate_v3(&made, &affinity, 1, 0, 0), CUDA_ERROR_NOT_SUPPORTED);
  CUctxCreateParams params{&affinity, 1, nullptr};
  EXPECT_EQ(cuCtxCreate_v4(&made, &params, 0, 0), CUDA_ERROR_NOT_SUPPORTED);
}

TEST_F(ContextTest, DestroyFreesItsMemoryStreamsAndEvents) {
  CUcontext made = nullptr;
  CUdeviceptr memory = 0;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  ASSERT_EQ(cuCtxCreate_v2(&made, 0, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemAlloc_v2(&memory, 64), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxDestroy_v2(made), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree_v2(memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(ContextTest, FlagsAndIdsAreTheContexts) {
  CUcontext made = nullptr;
  ASSERT_EQ(cuCtxCreate_v2(&made, CU_CTX_SCHED_SPIN, 0), CUDA_SUCCESS);
  unsigned flags = 0;
  EXPECT_EQ(cuCtxGetFlags(&flags), CUDA_SUCCESS);
  EXPECT_EQ(flags, static_cast<unsigned>(CU_CTX_SCHED_SPIN));
  unsigned long long own = 0;
  unsigned long long primary = 0;
  EXPECT_EQ(cuCtxGetId(nullptr, &own), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetId(context_, &primary), CUDA_SUCCESS);
  EXPECT_NE(own, primary);
  cuCtxDestroy_v2(made);
}

}  // namespace
}  // namespace tilegym::cpu::test
