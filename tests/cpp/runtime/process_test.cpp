#include "runtime/process.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <thread>

#include "runtime/scoped_place.h"

namespace tilegym::runtime {
namespace {

Command shell(const std::string& script) {
  return {{"/bin/sh", "-c", script}};
}

TEST(Process, LinesOfBothStreamsArrive) {
  std::vector<std::string> output;
  std::vector<std::string> error;
  const Watcher watcher{[&](std::string_view line) { output.emplace_back(line); },
                        [&](std::string_view line) { error.emplace_back(line); },
                        {}};
  const Outcome outcome = run_process(shell("echo one; echo two; printf three >&2"), watcher).value();
  EXPECT_TRUE(outcome.succeeded());
  EXPECT_EQ(output, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(error, (std::vector<std::string>{"three"}));
}

TEST(Process, LongOutputIsComplete) {
  std::size_t bytes = 0;
  const Watcher watcher{[&](std::string_view line) { bytes += line.size() + 1; }, {}, {}};
  ASSERT_TRUE(run_process(shell("seq 1 100000"), watcher).ok());
  EXPECT_EQ(bytes, 588895U);
}

TEST(Process, ExitCodeIsKept) {
  EXPECT_EQ(run_process(shell("exit 7"), {}).value().exit_code, 7);
}

TEST(Process, SignalIsToldApartFromAnExit) {
  const Outcome outcome = run_process(shell("kill -9 $$"), {}).value();
  EXPECT_EQ(outcome.signal, SIGKILL);
  EXPECT_EQ(outcome.exit_code, -1);
  EXPECT_FALSE(outcome.succeeded());
}

TEST(Process, EnvironmentIsAddedAndReplaced) {
  const ScopedVariable old("TILEGYM_TEST_VALUE", "old");
  Command command = shell("echo $TILEGYM_TEST_VALUE $TILEGYM_TEST_OTHER");
  command.environment = {{"TILEGYM_TEST_VALUE", "new"}, {"TILEGYM_TEST_OTHER", "more"}};
  EXPECT_EQ(output_of(command).value(), "new more");
}

TEST(Process, RunsInTheGivenFolderInAGroupOfItsOwn) {
  Command command = shell("pwd; cut -d' ' -f5 /proc/$$/stat; echo $$");
  command.folder = "/usr";
  const std::string text = output_of(command).value();
  const std::string pid = text.substr(text.rfind('\n') + 1);
  EXPECT_EQ(text, "/usr\n" + pid + "\n" + pid);
}

TEST(Process, MissingProgramIsAnErrorThatNamesIt) {
  const auto outcome = run_process({{"tilegym-no-such-program"}}, {});
  ASSERT_FALSE(outcome.ok());
  EXPECT_EQ(outcome.error().message, "tilegym-no-such-program: cannot be started: No such file or directory");
}

TEST(Process, CancelEndsTheWholeGroup) {
  std::string grandchild;
  const Watcher watcher{[&](std::string_view line) { grandchild = line; }, {}, [&] { return grandchild.empty(); }};
  const Outcome outcome = run_process(shell("sleep 600 & echo $!; wait"), watcher).value();
  EXPECT_TRUE(outcome.cancelled);
  // An ended grandchild may stay as a zombie until init collects it; a zombie has no command line.
  for (int tries = 0; tries < 50 && !file_text("/proc/" + grandchild + "/cmdline").empty(); ++tries) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  EXPECT_EQ(file_text("/proc/" + grandchild + "/cmdline"), "");
}

TEST(Process, CancelInsistsWhereTheProgramIgnoresTheFirstSignal) {
  bool started = false;
  const Watcher watcher{[&](std::string_view) { started = true; }, {}, [&] { return !started; }};
  const Outcome outcome = run_process(shell("trap '' TERM; echo up; while :; do sleep 1; done"), watcher).value();
  EXPECT_TRUE(outcome.cancelled);
  EXPECT_EQ(outcome.signal, SIGKILL);
}

TEST(Process, GrandchildThatKeepsThePipeOpenIsNotWaitedFor) {
  std::string pid;
  const Watcher watcher{[&](std::string_view line) { pid = line; }, {}, {}};
  EXPECT_TRUE(run_process(shell("sleep 60 & echo $!"), watcher).value().succeeded());
  EXPECT_EQ(kill(static_cast<pid_t>(std::stol(pid)), SIGKILL), 0) << "the grandchild had ended before";
}

TEST(Process, OutputOfAFailedProgramIsAnErrorWithItsComplaint) {
  const auto text = output_of(shell("echo broken >&2; exit 3"));
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.error().message, "/bin/sh: wanted exit status 0, got 3: broken\n");
}

TEST(FindPrograms, GivesEveryExecutableInPathOrder) {
  const TempFolder place;
  const auto first = place.script("a/tool", "");
  const auto second = place.script("b/tool", "");
  place.write("c/tool", "not executable");
  const std::string root = place.path().string();
  const ScopedVariable path("PATH", root + "/b::" + root + "/c:" + root + "/a");
  EXPECT_EQ(find_programs("tool"), (std::vector{second, first}));
}

}  // namespace
}  // namespace tilegym::runtime
