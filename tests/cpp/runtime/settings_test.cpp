#include "runtime/settings.h"

#include <gtest/gtest.h>

#include <set>

#include "runtime/scoped_place.h"

namespace tilegym::runtime {
namespace {

using ::testing::Test;

/// A working folder `project/inner` and a home of its own, with none of the settings set.
class SettingsTest : public Test {
 protected:
  SettingsTest() { forget_setting_files(); }
  ~SettingsTest() override { forget_setting_files(); }

  void write_project(const std::string& text) {
    place_.write("project/tilegym-rs.toml", text);
    forget_setting_files();
  }
  void write_user(const std::string& text) {
    place_.write("config/tilegym/tilegym-rs.toml", text);
    forget_setting_files();
  }
  std::string error_of(const char* name) {
    const Result<Setting> setting = read_setting(name);
    return setting.ok() ? "no error" : setting.error().message;
  }

  TempFolder place_;
  std::filesystem::path here_ = place_.write("project/inner/file", "").parent_path();
  ScopedWorkingFolder folder_{here_};
  ScopedVariable config_{"XDG_CONFIG_HOME", (place_.path() / "config").string()};
  ScopedVariable device_{"TILEGYM_RS_DEVICE", std::nullopt};
  ScopedVariable autobuild_{"CUTILE_RS_AUTOBUILD", std::nullopt};
  ScopedVariable max_{"TILEGYM_RS_CACHE_MAX", std::nullopt};
};

TEST_F(SettingsTest, DefaultWhenNothingIsSet) {
  const Setting setting = read_setting("device").value();
  EXPECT_EQ(setting.text, "auto");
  EXPECT_EQ(setting.origin, SettingOrigin::built_in);
  EXPECT_EQ(setting.place, "");
}

TEST_F(SettingsTest, UserFileWinsOverDefault) {
  write_user("device = 'cpu'\n");
  const Setting setting = read_setting("device").value();
  EXPECT_EQ(setting.text, "cpu");
  EXPECT_EQ(setting.origin, SettingOrigin::user_file);
  EXPECT_EQ(setting.place, (place_.path() / "config/tilegym/tilegym-rs.toml").string());
}

TEST_F(SettingsTest, ProjectFileAboveTheWorkingFolderWinsOverUserFile) {
  write_user("device = 'cpu'\n");
  write_project("device = 'cuda'\n");
  EXPECT_EQ(read_setting("device").value().text, "cuda");
  EXPECT_EQ(read_setting("device").value().origin, SettingOrigin::project_file);
}

TEST_F(SettingsTest, EnvironmentWinsOverFilesAndIsReadAtEveryCall) {
  write_project("device = 'cuda'\n");
  const ScopedVariable variable("TILEGYM_RS_DEVICE", "CPU");
  EXPECT_EQ(read_setting("device").value().text, "cpu");
  EXPECT_EQ(read_setting("device").value().place, "TILEGYM_RS_DEVICE");
  const ScopedVariable changed("TILEGYM_RS_DEVICE", "cuda");
  EXPECT_EQ(read_setting("device").value().text, "cuda");
}

TEST_F(SettingsTest, EmptyVariableCountsAsUnset) {
  const ScopedVariable variable("TILEGYM_RS_DEVICE", "");
  EXPECT_EQ(read_setting("device").value().origin, SettingOrigin::built_in);
}

TEST_F(SettingsTest, VariableNameFindsTheSameSetting) {
  const ScopedVariable variable("TILEGYM_RS_LOG", std::nullopt);
  const ScopedVariable alias("TILEGYM_LOG_LEVEL", "INFO");
  EXPECT_EQ(read_text("TILEGYM_LOG_LEVEL").value(), "info");
  EXPECT_EQ(read_text("log").value(), "info");
}

TEST_F(SettingsTest, FlagTakesTheUsualWords) {
  for (const char* word : {"0", "false", "OFF", "no"}) {
    const ScopedVariable variable("CUTILE_RS_AUTOBUILD", word);
    EXPECT_FALSE(read_flag("autobuild").value()) << word;
  }
  const ScopedVariable variable("CUTILE_RS_AUTOBUILD", "Yes");
  EXPECT_TRUE(read_flag("autobuild").value());
}

TEST_F(SettingsTest, BytesTakeUnits) {
  const ScopedVariable variable("TILEGYM_RS_CACHE_MAX", "3M");
  EXPECT_EQ(read_integer("cache_max").value(), 3 * 1024 * 1024);
}

TEST_F(SettingsTest, BytesBeyond64BitsAreRefused) {
  const ScopedVariable variable("TILEGYM_RS_CACHE_MAX", "9999999999T");
  EXPECT_EQ(error_of("cache_max"), "TILEGYM_RS_CACHE_MAX: wanted a size such as 500M or 2G, got '9999999999T'");
}

TEST_F(SettingsTest, BadChoiceNamesVariableWantedAndGot) {
  const ScopedVariable variable("TILEGYM_RS_DEVICE", "gpu");
  EXPECT_EQ(error_of("device"), "TILEGYM_RS_DEVICE: wanted one of auto|cuda|cpu, got 'gpu'");
}

TEST_F(SettingsTest, TwoChoicesInOneValueAreRefused) {
  const ScopedVariable variable("TILEGYM_RS_DEVICE", "cuda|cpu");
  EXPECT_EQ(error_of("device"), "TILEGYM_RS_DEVICE: wanted one of auto|cuda|cpu, got 'cuda|cpu'");
}

TEST_F(SettingsTest, BadValueInAFileNamesTheFileAndKey) {
  write_project("autobuild = 'maybe'\n");
  EXPECT_EQ(error_of("autobuild"),
            (place_.path() / "project/tilegym-rs.toml").string() + ": autobuild: wanted 1 or 0, got 'maybe'");
}

TEST_F(SettingsTest, UnknownKeyInAFileIsRefused) {
  write_project("devise = 'cpu'\n");
  EXPECT_NE(error_of("device").find("got 'devise'"), std::string::npos) << error_of("device");
}

TEST_F(SettingsTest, BrokenFileNamesItsLine) {
  write_project("device = 'cpu'\nautobuild = = 1\n");
  EXPECT_NE(error_of("device").find("tilegym-rs.toml:2: wanted a TOML file"), std::string::npos) << error_of("device");
}

TEST_F(SettingsTest, ListInAFileIsRefused) {
  write_project("device = ['cpu']\n");
  EXPECT_NE(error_of("device").find("device: wanted a string"), std::string::npos) << error_of("device");
}

TEST_F(SettingsTest, PathInAFileIsRelativeToThatFile) {
  const ScopedVariable variable("TILEGYM_RS_CACHE_DIR", std::nullopt);
  write_project("cache_dir = '.cache'\n");
  EXPECT_EQ(read_text("cache_dir").value(), (place_.path() / "project/.cache").string());
}

TEST_F(SettingsTest, TildeIsTheHomeFolder) {
  const ScopedVariable home("HOME", "/somewhere");
  const ScopedVariable variable("TILEGYM_RS_CACHE_DIR", "~/cache");
  EXPECT_EQ(read_text("cache_dir").value(), "/somewhere/cache");
}

TEST_F(SettingsTest, UnknownNameIsAnError) {
  EXPECT_EQ(error_of("colour"), "setting: wanted a name that `tilegym-rs doctor` lists, got 'colour'");
}

TEST(SettingRows, NamesAreUniqueAndDefaultsAreCanonical) {
  std::set<std::string_view> names;
  for (const SettingRow& row : setting_rows()) {
    EXPECT_TRUE(names.insert(row.key).second) << row.key;
    EXPECT_TRUE(names.insert(row.variable).second) << row.variable;
    EXPECT_FALSE(row.doc.empty()) << row.key;
    const ScopedVariable variable(std::string(row.variable).c_str(), std::string(row.default_text));
    EXPECT_EQ(read_setting(row.key).value().text, row.default_text) << row.key;
  }
}

}  // namespace
}  // namespace tilegym::runtime
