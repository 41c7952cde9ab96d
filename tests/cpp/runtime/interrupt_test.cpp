#include "runtime/interrupt.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

namespace tilegym::runtime {
namespace {

const std::atomic<bool>* watched = nullptr;
int delivered = 0;

void watch(const std::atomic<bool>* flag) {
  watched = flag;
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
    watched = nullptr;
    delivered = 0;
    let_guard_look_again();
  }
  void TearDown() override { std::signal(SIGINT, previous_); }

 private:
  void (*previous_)(int) = nullptr;
};

TEST_F(InterruptGuardTest, SignalCancelsAndReachesTheHandlerBefore) {
  const InterruptGuard guard(watch);
  std::raise(SIGINT);
  EXPECT_TRUE(watched->load());
  EXPECT_EQ(delivered, 1);
}

TEST_F(InterruptGuardTest, EndOfTheGuardEndsTheWatch) {
  {
    const InterruptGuard guard(watch);
  }
  EXPECT_EQ(watched, nullptr);
}

TEST_F(InterruptGuardTest, RequestIsForOneLaunch) {
  {
    const InterruptGuard guard(watch);
    std::raise(SIGINT);
  }
  const InterruptGuard guard(watch);
  EXPECT_FALSE(watched->load());
}

TEST_F(InterruptGuardTest, SignalBetweenLaunchesCancelsNothing) {
  {
    const InterruptGuard guard(watch);
  }
  std::raise(SIGINT);
  const InterruptGuard next(watch);
  EXPECT_FALSE(watched->load());
  EXPECT_EQ(delivered, 1);
}

TEST_F(InterruptGuardTest, GuardTakesItsPlaceAgainAfterAnotherHandlerCame) {
  {
    const InterruptGuard guard(watch);
  }
  std::signal(SIGINT, count_delivery);
  let_guard_look_again();
  const InterruptGuard guard(watch);
  std::raise(SIGINT);
  EXPECT_TRUE(watched->load());
  EXPECT_EQ(delivered, 1);
}

struct sigaction covered{};
void pass_on(int signal) {
  covered.sa_sigaction(signal, nullptr, nullptr);
}

TEST_F(InterruptGuardTest, HandlerThatPassesTheSignalBackToOursEnds) {
  {
    const InterruptGuard guard(watch);
  }
  struct sigaction chained{};
  chained.sa_handler = pass_on;
  sigaction(SIGINT, &chained, &covered);
  let_guard_look_again();
  const InterruptGuard guard(watch);
  std::raise(SIGINT);
  EXPECT_EQ(delivered, 1);
}

TEST_F(InterruptGuardTest, IgnoredSignalStaysIgnored) {
  std::signal(SIGINT, SIG_IGN);
  const InterruptGuard guard(watch);
  std::raise(SIGINT);
  EXPECT_FALSE(watched->load());
}

}  // namespace
}  // namespace tilegym::runtime
