#include "runtime/file_lock.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>

#include "runtime/scoped_place.h"

namespace tilegym::runtime {
namespace {

using std::chrono::seconds;

bool keep_waiting(const std::string& /*holder*/, seconds /*waited*/) {
  return true;
}

class FileLockTest : public ::testing::Test {
 protected:
  TempFolder place_;
  std::filesystem::path path_ = place_.path() / "lock";
};

TEST_F(FileLockTest, FreeLockIsTakenWithoutWaiting) {
  const auto lock = FileLock::acquire(path_, seconds(0), keep_waiting);
  EXPECT_TRUE(lock.ok());
}

TEST_F(FileLockTest, SecondHolderInOneProcessIsRefusedByName) {
  const auto lock = FileLock::acquire(path_, seconds(0), keep_waiting);
  const auto second = FileLock::acquire(path_, seconds(0), keep_waiting);
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().message.find("process " + std::to_string(getpid()) + " ("), std::string::npos)
      << second.error().message;
}

TEST_F(FileLockTest, LockIsFreeAfterItsScope) {
  {
    const auto lock = FileLock::acquire(path_, seconds(0), keep_waiting);
  }
  EXPECT_TRUE(FileLock::acquire(path_, seconds(0), keep_waiting).ok());
}

TEST_F(FileLockTest, MovedFromLockReleasesNothing) {
  auto lock = FileLock::acquire(path_, seconds(0), keep_waiting);
  const FileLock moved = std::move(lock).value();
  EXPECT_FALSE(FileLock::acquire(path_, seconds(0), keep_waiting).ok());
}

TEST_F(FileLockTest, WaiterLearnsTheHolderAndCanGiveUp) {
  const auto lock = FileLock::acquire(path_, seconds(0), keep_waiting);
  std::string seen;
  const auto second = FileLock::acquire(path_, seconds(60), [&](const std::string& holder, seconds) {
    seen = holder;
    return false;
  });
  ASSERT_FALSE(second.ok());
  EXPECT_TRUE(seen.starts_with("process " + std::to_string(getpid()))) << seen;
  EXPECT_NE(second.error().message.find("cancelled"), std::string::npos);
}

TEST_F(FileLockTest, WaiterGoesOnWhenTheHolderIsDone) {
  std::optional<FileLock> first = FileLock::acquire(path_, seconds(0), keep_waiting).value();
  const auto second = FileLock::acquire(path_, seconds(60), [&](const std::string&, seconds) {
    first.reset();
    return true;
  });
  EXPECT_TRUE(second.ok());
}

TEST_F(FileLockTest, KilledHolderFreesTheLock) {
  const pid_t child = fork();
  if (child == 0) {
    const auto lock = FileLock::acquire(path_, seconds(0), keep_waiting);
    raise(SIGKILL);
  }
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(FileLock::acquire(path_, seconds(0), keep_waiting).ok());
}

TEST_F(FileLockTest, FolderThatIsNotThereIsAnError) {
  const auto lock = FileLock::acquire(place_.path() / "none/lock", seconds(0), keep_waiting);
  ASSERT_FALSE(lock.ok());
  EXPECT_NE(lock.error().message.find("No such file"), std::string::npos) << lock.error().message;
}

TEST_F(FileLockTest, HolderOfAForeignLockIsFoundByTheKernel) {
  EXPECT_EQ(lock_holder(path_), "");
  const auto lock = FileLock::acquire(path_, seconds(0), keep_waiting);
  EXPECT_EQ(lock_holder(path_).find("process " + std::to_string(getpid()) + " ("), 0U) << lock_holder(path_);
  EXPECT_EQ(lock_holder(path_.parent_path() / "absent"), "");
}

}  // namespace
}  // namespace tilegym::runtime
