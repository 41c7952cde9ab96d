#include "runtime/interrupt.h"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace tilegym::runtime {
namespace {

int cancelled = 0;
int delivered = 0;

void cancel(int value) {
  cancelled = value;
}
void count_delivery(int) {
  ++delivered;
}

/// Long enough for the next guard to look at the handler again.
void let_guard_look_again() {
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

class InterruptGuardTest : public testing::Test {
 protected:
  void SetUp() override {
    previous_ = std::signal(SIGINT, count_delivery);
    cancelled = 0;
    delivered = 0;
    let_guard_look_again();
  }
  void TearDown() override { std::signal(SIGINT, previous_); }

 private:
  void (*previous_)(int) = nullptr;
};

TEST_F(InterruptGuardTest, SignalCancelsAndReachesTheHandlerBefore) {
  const InterruptGuard guard(cancel);
  std::raise(SIGINT);
  EXPECT_EQ(cancelled, 1);
  EXPECT_EQ(delivered, 1);
}

TEST_F(InterruptGuardTest, EndOfTheGuardClearsTheRequest) {
  {
    const InterruptGuard guard(cancel);
    std::raise(SIGINT);
  }
  EXPECT_EQ(cancelled, 0);
}

TEST_F(InterruptGuardTest, SignalBetweenLaunchesCancelsNothing) {
  {
    const InterruptGuard guard(cancel);
  }
  std::raise(SIGINT);
  EXPECT_EQ(cancelled, 0);
  EXPECT_EQ(delivered, 1);
}

TEST_F(InterruptGuardTest, GuardTakesItsPlaceAgainAfterAnotherHandlerCame) {
  {
    const InterruptGuard guard(cancel);
  }
  std::signal(SIGINT, count_delivery);
  let_guard_look_again();
  const InterruptGuard guard(cancel);
  std::raise(SIGINT);
  EXPECT_EQ(cancelled, 1);
  EXPECT_EQ(delivered, 1);
}

struct sigaction covered{};
void pass_on(int signal) {
  covered.sa_sigaction(signal, nullptr, nullptr);
}

TEST_F(InterruptGuardTest, HandlerThatPassesTheSignalBackToOursEnds) {
  {
    const InterruptGuard guard(cancel);
  }
  struct sigaction chained{};
  chained.sa_handler = pass_on;
  sigaction(SIGINT, &chained, &covered);
  let_guard_look_again();
  const InterruptGuard guard(cancel);
  std::raise(SIGINT);
  EXPECT_EQ(delivered, 1);
}

TEST_F(InterruptGuardTest, IgnoredSignalStaysIgnored) {
  std::signal(SIGINT, SIG_IGN);
  const InterruptGuard guard(cancel);
  std::raise(SIGINT);
  EXPECT_EQ(cancelled, 0);
}

}  // namespace
}  // namespace tilegym::runtime
