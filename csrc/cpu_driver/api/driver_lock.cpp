#include "cpu_driver/api/driver_lock.h"

#include <pthread.h>

#include <vector>

#include "common/check.h"

namespace tilegym::cpu {
namespace {

std::vector<ForkHandler>& fork_handlers() {
  static auto& handlers = *new std::vector<ForkHandler>;
  return handlers;
}

void before_fork() {
  driver_lock().lock();
}
void after_fork_in_parent() {
  driver_lock().unlock();
}
void after_fork_in_child() {
  for (const ForkHandler handler : fork_handlers()) handler();
  driver_lock().unlock();
}

const bool registered = [] {
  TILEGYM_CHECK(pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0);
  return true;
}();

}  // namespace

// Never destroyed: worker threads may still run while the process exits.
std::mutex& driver_lock() noexcept {
  static auto& lock = *new std::mutex;
  return lock;
}

void on_forked_child(ForkHandler handler) {
  const std::scoped_lock lock(driver_lock());
  fork_handlers().push_back(handler);
}

}  // namespace tilegym::cpu
