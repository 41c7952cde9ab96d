#include "cpu_driver/api/driver_test.h"

namespace tilegym::cpu::test {
namespace {

class EventTest : public DriverTest {
 protected:
  CUevent make_event(unsigned flags = CU_EVENT_DEFAULT) {
    CUevent event = nullptr;
    EXPECT_EQ(cuEventCreate(&event, flags), CUDA_SUCCESS);
    return event;
  }
};

TEST_F(EventTest, NeverRecordedIsComplete) {
  const CUevent event = make_event();
  EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
  EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
}

TEST_F(EventTest, IsNotReadyUntilItsStreamGetsThere) {
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
  Gate gate;
  launch(make_function([&](auto, auto, const auto&) { return gate.wait(), LaunchResult{}; }), stream);
  const CUevent event = make_event();
  ASSERT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
  gate.open();
  EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
}

TEST_F(EventTest, ElapsedTimeIsPositiveBetweenTwoRecordings) {
  const CUevent start = make_event();
  const CUevent end = make_event();
  ASSERT_EQ(cuEventRecord(start, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(end, nullptr), CUDA_SUCCESS);
  float forward = -1;
  float backward = 1;
  EXPECT_EQ(cuEventElapsedTime_v2(&forward, start, end), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime(&backward, end, start), CUDA_SUCCESS);
  EXPECT_GT(forward, 0);
  EXPECT_EQ(backward, -forward);
}

TEST_F(EventTest, ElapsedTimeNeedsRecordings) {
  float time = 0;
  EXPECT_EQ(cuEventElapsedTime(&time, make_event(), make_event()), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(EventTest, ElapsedTimeNeedsTiming) {
  const CUevent start = make_event(CU_EVENT_DISABLE_TIMING);
  const CUevent end = make_event();
  cuEventRecord(start, nullptr);
  cuEventRecord(end, nullptr);
  float time = 0;
  EXPECT_EQ(cuEventElapsedTime(&time, start, end), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(EventTest, ElapsedTimeOfAPendingEventIsNotReady) {
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  Gate gate;
  launch(make_function([&](auto, auto, const auto&) { return gate.wait(), LaunchResult{}; }), stream);
  const CUevent start = make_event();
  const CUevent end = make_event();
  cuEventRecord(start, nullptr);
  cuEventRecord(end, stream);
  float time = 0;
  EXPECT_EQ(cuEventElapsedTime(&time, start, end), CUDA_ERROR_NOT_READY);
  gate.open();
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
}

TEST_F(EventTest, DestroyWhilePendingIsSafe) {
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
  Gate gate;
  launch(make_function([&](auto, auto, const auto&) { return gate.wait(), LaunchResult{}; }), stream);
  const CUevent event = make_event();
  ASSERT_EQ(cuEventRecord(event, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuEventDestroy_v2(event), CUDA_SUCCESS);
  gate.open();
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(EventTest, InterprocessEventsAreNotSupported) {
  CUevent event = nullptr;
  EXPECT_EQ(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING), CUDA_ERROR_NOT_SUPPORTED);
}

}  // namespace
}  // namespace tilegym::cpu::test
