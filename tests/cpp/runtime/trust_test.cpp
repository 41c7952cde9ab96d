#include "runtime/trust.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/cache_folder.h"
#include "runtime/scoped_place.h"
#include "runtime/settings.h"
#include "runtime/shared_object.h"

namespace tilegym::runtime {
namespace {

namespace fs = std::filesystem;
constexpr uid_t kStranger = 4242;

class TrustTest : public ::testing::Test {
 protected:
  TrustTest() {
    forget_setting_files();
    fs::permissions(file_.parent_path(), fs::perms(0755));
    fs::permissions(file_, fs::perms(0644));
  }
  std::string fault() const {
    const Status status = check_trusted_file("kernel library", file_);
    return status.ok() ? "" : status.error().message;
  }
  void give_away(const fs::path& path) const { ASSERT_EQ(chown(path.c_str(), kStranger, kStranger), 0); }

  TempFolder place_;
  fs::path file_ = place_.write("lib/kernels.so", "x");
  ScopedVariable owners_{"TILEGYM_RS_TRUSTED_OWNERS", std::nullopt};
  ScopedVariable folder_{"TILEGYM_RS_CACHE_DIR", std::nullopt};
};

TEST_F(TrustTest, OwnFileInOwnFolderIsTrusted) {
  EXPECT_EQ(fault(), "");
}

TEST_F(TrustTest, ReadersAndGroupsDoNotMatter) {
  fs::permissions(file_, fs::perms(0775));
  EXPECT_EQ(fault(), "");
}

TEST_F(TrustTest, FileThatEverybodyMayWriteIsRefusedWithItsRemedy) {
  fs::permissions(file_, fs::perms(0666));
  EXPECT_NE(fault().find("everybody may write '" + file_.string() + "' (mode 666); close it with: chmod o-w '" +
                         file_.string() + "'"),
            std::string::npos)
      << fault();
}

TEST_F(TrustTest, FolderThatEverybodyMayWriteIsRefusedEvenWithTheStickyBit) {
  fs::permissions(file_.parent_path(), fs::perms(01777));
  EXPECT_NE(fault().find("folder that other users cannot change, but everybody may write '" +
                         file_.parent_path().string() + "' (mode 1777)"),
            std::string::npos)
      << fault();
}

TEST_F(TrustTest, SymbolicLinkIsJudgedByWhatItLeadsTo) {
  const fs::path link = place_.path() / "link.so";
  fs::create_symlink(file_, link);
  EXPECT_TRUE(check_trusted_file("kernel library", link).ok());
  fs::permissions(file_.parent_path(), fs::perms(0777));
  EXPECT_FALSE(check_trusted_file("kernel library", link).ok());
}

TEST_F(TrustTest, AbsentFileIsAnError) {
  fs::remove(file_);
  EXPECT_NE(fault().find("No such file"), std::string::npos) << fault();
}

TEST_F(TrustTest, ForeignOwnerIsRefusedUnlessNamed) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can give a file to another user";
  }
  give_away(file_);
  EXPECT_NE(fault().find("'" + file_.string() + "' belongs to 4242, who could put anything there"), std::string::npos)
      << fault();
  const ScopedVariable owners("TILEGYM_RS_TRUSTED_OWNERS", "nobody,4242");
  EXPECT_EQ(fault(), "");
}

TEST_F(TrustTest, ProjectFileCannotVouchForAnOwner) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can give a file to another user";
  }
  give_away(file_.parent_path());
  place_.write("tilegym-rs.toml", "trusted_owners = '4242'");
  const ScopedWorkingFolder working(place_.path());
  forget_setting_files();
  EXPECT_NE(fault().find("belongs to 4242"), std::string::npos) << fault();
  forget_setting_files();
}

TEST_F(TrustTest, LibraryIsNotOpenedFromAnUntrustedPlace) {
  fs::permissions(file_, fs::perms(0666));
  const Result<SharedObject> library = SharedObject::open("kernel library", file_.string());
  ASSERT_FALSE(library.ok());
  EXPECT_NE(library.error().message.find("everybody may write"), std::string::npos) << library.error().message;
}

TEST_F(TrustTest, UntrustedCacheFolderIsPassedOverWithAWarningThatNamesIt) {
  const fs::path open = place_.path() / "open";
  fs::create_directories(open);
  fs::permissions(open, fs::perms(0777));
  const ScopedVariable setting("TILEGYM_RS_CACHE_DIR", open.string());
  const ScopedVariable home("XDG_CACHE_HOME", (place_.path() / "home").string());
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(cache_folders().value(), std::vector<fs::path>{place_.path() / "home/tilegym"});
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("everybody may write '" + open.string() + "'"), std::string::npos) << said;
}

TEST_F(TrustTest, CacheFolderIsClosedToOthersWhateverTheMask) {
  const ScopedVariable setting("TILEGYM_RS_CACHE_DIR", (place_.path() / "new/cache").string());
  const mode_t mask = umask(0);
  const Result<std::vector<fs::path>> folders = cache_folders();
  const Status published = publish_file(folders.value().back() / "sub/entry", "x");
  umask(mask);
  EXPECT_EQ(folders.value().size(), 1U);
  ASSERT_TRUE(published.ok());
  EXPECT_TRUE(check_trusted_file("entry", folders.value().back() / "sub/entry").ok());
}

}  // namespace
}  // namespace tilegym::runtime
