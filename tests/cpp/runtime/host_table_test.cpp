#include "runtime/host_table.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "runtime/scoped_place.h"

namespace tilegym::runtime {
namespace {

TEST(HostTable, SettingIsTheEffectiveValue) {
  const ScopedVariable variable("TILEGYM_RS_DEVICE", "cpu");
  EXPECT_STREQ(host_table().setting("TILEGYM_RS_DEVICE"), "cpu");
}

TEST(HostTable, UnsetSettingIsNull) {
  const ScopedVariable variable("CUTILE_TILEIRAS_PATH", std::nullopt);
  EXPECT_EQ(host_table().setting("CUTILE_TILEIRAS_PATH"), nullptr);
}

TEST(HostTable, UnknownSettingIsNull) {
  EXPECT_EQ(host_table().setting("TILEGYM_RS_NO_SUCH_THING"), nullptr);
}

TEST(HostTable, TextGoesToTheLog) {
  const std::string text = "from the kernel library, and no further";
  testing::internal::CaptureStderr();
  host_table().log(4, text.c_str(), 23);
  const std::string logged = testing::internal::GetCapturedStderr();
  EXPECT_NE(logged.find("from the kernel library"), std::string::npos);
  EXPECT_EQ(logged.find("further"), std::string::npos);
}

TEST(HostTable, LevelOutsideTheRangeIsLoggedAsAnError) {
  testing::internal::CaptureStderr();
  host_table().log(99, "odd level", 9);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("odd level"), std::string::npos);
}

TEST(HostTable, SizeTellsTheLayout) {
  EXPECT_EQ(host_table().size, sizeof(HostTable));
}

}  // namespace
}  // namespace tilegym::runtime
