#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "cpu_driver/api/driver_test.h"

namespace tilegym::cpu::test {
namespace {

class Process : public DriverTest {
 protected:
  /// Runs `body` in a forked child, which must end by itself within the alarm; returns its exit status.
  template <class Body>
  int in_child(Body body) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      _exit(body() ? 0 : 1);
    }
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

  CUstream make_stream() {
    CUstream stream = nullptr;
    EXPECT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
    return stream;
  }
};

TEST_F(Process, ForkedChildLaunchesOnTheDefaultStream) {
  const CUfunction function = make_function(outcome(Outcome::ok));
  launch(function);
  EXPECT_EQ(in_child([&] { return launch(function) == CUDA_SUCCESS; }), 0);
}

TEST_F(Process, ForkedChildUsesAStreamMadeBeforeTheFork) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer ends a forked child that starts a thread";
#endif
  const CUfunction function = make_function(outcome(Outcome::ok));
  const CUstream stream = make_stream();
  launch(function, stream);
  cuStreamSynchronize(stream);
  EXPECT_EQ(
      in_child([&] { return launch(function, stream) == CUDA_SUCCESS && cuStreamSynchronize(stream) == CUDA_SUCCESS; }),
      0);
}

TEST_F(Process, WorkPendingAtTheForkIsReportedOnceInTheChild) {
  const CUstream stream = make_stream();
  CUevent event = nullptr;
  ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
  Gate gate;
  launch(make_function([&](auto, auto, const auto&) { return gate.wait(), LaunchResult{}; }), stream);
  cuEventRecord(event, stream);
  EXPECT_EQ(in_child([&] {
              const bool told =
                  cuEventSynchronize(event) == CUDA_ERROR_LAUNCH_FAILED && last_report().rfind("fork: ", 0) == 0;
              return told && cuCtxSynchronize() == CUDA_SUCCESS;
            }),
            0);
  gate.open();
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
}

/// Exits with a launch still running that only the cancel flag ends.
[[noreturn]] void exit_while_running() {
  CUstream stream = nullptr;
  cuStreamCreate(&stream, 0);
  launch(make_function([](auto, auto, const LaunchOptions& options) {
           while (!options.cancel->load()) usleep(1000);
           return LaunchResult{Outcome::cancelled, ""};
         }),
         stream);
  std::exit(0);
}

using ProcessDeathTest = Process;

TEST_F(ProcessDeathTest, ExitCancelsWhatRuns) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(exit_while_running(), testing::ExitedWithCode(0), "");
}

TEST_F(ProcessDeathTest, ExitWithIdleStreamsIsClean) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto leave = [this] {
    for (int i = 0; i < 3; ++i) launch(make_function(outcome(Outcome::ok)), make_stream());
    std::exit(0);
  };
  EXPECT_EXIT(leave(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tilegym::cpu::test
