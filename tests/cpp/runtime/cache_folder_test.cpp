#include "runtime/cache_folder.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "runtime/scoped_place.h"
#include "runtime/settings.h"

namespace tilegym::runtime {
namespace {

namespace fs = std::filesystem;
using Folders = std::vector<fs::path>;

class CacheFolderTest : public ::testing::Test {
 protected:
  CacheFolderTest() { forget_setting_files(); }

  TempFolder place_;
  fs::path root_ = place_.path();
  /// A folder below a plain file cannot be made by anybody, root included.
  fs::path impossible_ = place_.write("file", "") / "cache";
  ScopedVariable home_{"HOME", (root_ / "home").string()};
  ScopedVariable cache_home_{"XDG_CACHE_HOME", std::nullopt};
  ScopedVariable setting_{"TILEGYM_RS_CACHE_DIR", std::nullopt};
};

TEST_F(CacheFolderTest, UserCacheIsTheDefault) {
  EXPECT_EQ(cache_folders().value(), Folders{root_ / "home/.cache/tilegym"});
  EXPECT_TRUE(fs::is_directory(root_ / "home/.cache/tilegym"));
}

TEST_F(CacheFolderTest, XdgCacheHomeComesBeforeTheHomeFolder) {
  const ScopedVariable variable("XDG_CACHE_HOME", (root_ / "xdg").string());
  EXPECT_EQ(cache_folders().value(), Folders{root_ / "xdg/tilegym"});
}

TEST_F(CacheFolderTest, SettingComesFirst) {
  const ScopedVariable variable("TILEGYM_RS_CACHE_DIR", (root_ / "mine").string());
  EXPECT_EQ(cache_folders().value(), Folders{root_ / "mine"});
}

TEST_F(CacheFolderTest, FallsBackToTheUserCacheWithAWarningThatNamesTheFolderTried) {
  const ScopedVariable variable("TILEGYM_RS_CACHE_DIR", impossible_.string());
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cache_folders().value(), (Folders{impossible_, root_ / "home/.cache/tilegym"}));
  EXPECT_TRUE(cache_folders().ok());
  const std::string warning = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(warning.find("cache folder " + impossible_.string() + " cannot be written"), std::string::npos) << warning;
  EXPECT_EQ(warning.find(impossible_.string()), warning.rfind(impossible_.string())) << "said more than once";
}

TEST_F(CacheFolderTest, LastResortIsATemporaryFolderClosedToOthers) {
  const ScopedVariable home("HOME", impossible_.string());
  const ScopedVariable temporary("TMPDIR", root_.string());
  const fs::path folder = cache_folders().value().back();
  EXPECT_EQ(folder.parent_path(), root_);
  EXPECT_EQ(fs::status(folder).permissions(), fs::perms::owner_all);
}

TEST_F(CacheFolderTest, FilesAreFoundInFoldersThatCannotBeWritten) {
  place_.write("one/kernels/a", "");
  place_.write("two/kernels/a", "");
  EXPECT_EQ(find_cached({root_ / "none", root_ / "one", root_ / "two"}, "kernels/a"), root_ / "one/kernels/a");
  EXPECT_EQ(find_cached({root_ / "one"}, "kernels/b"), std::nullopt);
}

TEST_F(CacheFolderTest, PublishedFileReplacesTheOldOneAndLeavesNothingElse) {
  ASSERT_TRUE(publish_file(root_ / "out/file", "old").ok());
  ASSERT_TRUE(publish_copy(place_.write("source", "new"), root_ / "out/file").ok());
  EXPECT_EQ(file_text(root_ / "out/file"), "new");
  EXPECT_EQ(std::distance(fs::directory_iterator(root_ / "out"), {}), 1);
}

TEST_F(CacheFolderTest, FailedPublishNamesTheFileAndLeavesNothing) {
  fs::create_directories(root_ / "out/file/occupied");
  const Status status = publish_file(root_ / "out/file", "text");
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find((root_ / "out/file").string() + ": cannot be written"), std::string::npos);
  EXPECT_EQ(std::distance(fs::directory_iterator(root_ / "out"), {}), 1);
}

/// Lets no file grow beyond a size, as a full disk would.
class ScopedFileLimit {
 public:
  explicit ScopedFileLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~ScopedFileLimit() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

TEST_F(CacheFolderTest, FileThatDoesNotFitSaysWhyAndWhatToDoAndLeavesNothing) {
  const std::string text(100'000, 'x');
  const fs::path source = place_.write("source", text);
  const ScopedFileLimit limit(50'000);
  for (const Status& status : {publish_file(root_ / "out/file", text), publish_copy(source, root_ / "out/file")}) {
    ASSERT_FALSE(status.ok());
    const std::string& message = status.error().message;
    EXPECT_NE(message.find("out/file: cannot be written: " + std::string(std::strerror(EFBIG))), std::string::npos);
    EXPECT_NE(message.find("make room there, or name another folder by TILEGYM_RS_CACHE_DIR"), std::string::npos);
    EXPECT_TRUE(fs::is_empty(root_ / "out"));
  }
}

}  // namespace
}  // namespace tilegym::runtime
