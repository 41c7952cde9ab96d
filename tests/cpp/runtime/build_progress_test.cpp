#include "runtime/build_progress.h"

#include <gtest/gtest.h>

namespace tilegym::runtime {
namespace {

/// What `action` writes to standard error, which is no terminal in a test.
template <class Action>
std::string shown(Action action) {
  BuildProgress progress("building");
  ::testing::internal::CaptureStderr();
  action(progress);
  return ::testing::internal::GetCapturedStderr();
}

TEST(BuildProgress, CountsEachCrateOnce) {
  EXPECT_EQ(shown([](BuildProgress& progress) {
              progress.set_total(3);
              progress.crate_done("syn 2.0");
              progress.crate_done("syn 2.0");
              progress.crate_done("quote 1.0");
              progress.finish("done");
            }),
            "tilegym: building: 2/3 crates, 0:00, done\n");
}

TEST(BuildProgress, TotalIsLeftOutWhereItIsNotKnown) {
  EXPECT_EQ(shown([](BuildProgress& progress) { progress.finish("failed"); }),
            "tilegym: building: 0 crates, 0:00, failed\n");
}

TEST(BuildProgress, MoreCratesThanExpectedRaiseTheTotal) {
  EXPECT_EQ(shown([](BuildProgress& progress) {
              progress.set_total(1);
              progress.crate_done("a");
              progress.crate_done("b");
              progress.finish("done");
            }),
            "tilegym: building: 2/2 crates, 0:00, done\n");
}

TEST(BuildProgress, ManyTicksWriteOneLineWhereThereIsNoTerminal) {
  const std::string text = shown([](BuildProgress& progress) {
    progress.set_activity("Compiling syn");
    for (int i = 0; i < 100; ++i) {
      progress.tick();
    }
  });
  EXPECT_EQ(text, "tilegym: building: 0 crates, 0:00, Compiling syn\n");
}

TEST(MinutesText, PadsSeconds) {
  EXPECT_EQ(minutes_text(std::chrono::seconds(5)), "0:05");
  EXPECT_EQ(minutes_text(std::chrono::seconds(754)), "12:34");
}

}  // namespace
}  // namespace tilegym::runtime
