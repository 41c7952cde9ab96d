#include <array>
#include <cstring>
#include <string>

#include "cpu_driver/api/driver_test.h"

namespace tilegym::cpu::test {
namespace {

TEST(PrivateTable, HasItsSizeAndEveryFunction) {
  EXPECT_EQ(table().size, sizeof(PrivateTable));
  EXPECT_NE(table().set_launch_ranges, nullptr);
  EXPECT_NE(table().configure, nullptr);
  EXPECT_NE(table().set_cancelled, nullptr);
  EXPECT_NE(table().last_report, nullptr);
  EXPECT_NE(table().launch_totals, nullptr);
  EXPECT_NE(table().watch_cancelled, nullptr);
}

TEST(PrivateTable, OtherIdsAreNotFound) {
  const CUuuid id{};
  const void* found = &id;
  EXPECT_EQ(cuGetExportTable(&found, &id), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(found, nullptr);
}

TEST(PrivateTable, NullArgumentsAreRefused) {
  const void* found = nullptr;
  EXPECT_EQ(cuGetExportTable(&found, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST(PrivateTable, UnknownOptionIsRefusedByName) {
  EXPECT_EQ(table().configure("colour", "red"), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(last_report(), "configure: option: wanted target, threads or order, got 'colour'");
}

TEST(PrivateTable, UnknownTargetIsRefusedWithTheKnownOnes) {
  EXPECT_EQ(table().configure("target", "sm_30"), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(last_report(), "configure: target: wanted one of sm_80, sm_90, sm_100, sm_120, got 'sm_30'");
}

TEST(PrivateTable, ThreadCountsMustBeNumbers) {
  for (const char* value : {"", "-1", "two", "3x", "99999999999"}) {
    EXPECT_EQ(table().configure("threads", value), CUDA_ERROR_INVALID_VALUE) << value;
  }
}

TEST(PrivateTable, ReportIsCutToTheBuffer) {
  table().configure("colour", "red");
  std::array<char, 8> text{};
  EXPECT_EQ(table().last_report(text.data(), text.size()), last_report().size());
  EXPECT_STREQ(text.data(), "configu");
  EXPECT_GT(table().last_report(nullptr, 0), 7U);
}

TEST(PrivateTable, TotalsAcceptNull) {
  table().launch_totals(nullptr, nullptr);
}

}  // namespace
}  // namespace tilegym::cpu::test
