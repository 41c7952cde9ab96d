#include "runtime/log.h"

#include <gtest/gtest.h>

#include "runtime/scoped_place.h"

namespace tilegym::runtime {
namespace {

/// What `action` writes to standard error.
template <class Action>
std::string logged(Action action) {
  ::testing::internal::CaptureStderr();
  action();
  return ::testing::internal::GetCapturedStderr();
}

TEST(Log, LineNamesLoggerAndLevel) {
  const ScopedVariable level("TILEGYM_RS_LOG", "info");
  EXPECT_EQ(logged([] { log(LogLevel::info, "hello {}"); }), "tilegym: info: hello {}\n");
}

TEST(Log, LevelBelowTheSettingIsQuietAndTheSettingIsReadAtEveryCall) {
  const ScopedVariable level("TILEGYM_RS_LOG", "error");
  EXPECT_EQ(logged([] { log(LogLevel::warning, "quiet"); }), "");
  const ScopedVariable lower("TILEGYM_RS_LOG", "debug");
  EXPECT_NE(logged([] { log(LogLevel::debug, "loud"); }), "");
}

TEST(Log, OnceSaysEachTextOnce) {
  const ScopedVariable level("TILEGYM_RS_LOG", "warning");
  const auto twice = [] {
    log_once(LogLevel::warning, "said once");
    log_once(LogLevel::warning, "said once");
  };
  EXPECT_EQ(logged(twice), "tilegym: warning: said once\n");
}

}  // namespace
}  // namespace tilegym::runtime
