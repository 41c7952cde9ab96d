#pragma once

#include <mutex>

namespace tilegym::cpu {

/// Guards all state of the driver that launches on the default stream do not touch: handle tables, contexts, streams,
/// allocations. One lock, because a fork must find all of it consistent: it is held across fork().
/// Never held while a kernel, a copy or a callback runs.
[[nodiscard]] std::mutex& driver_lock() noexcept;

/// Runs in a forked child, with the lock held.
using ForkHandler = void (*)();
void on_forked_child(ForkHandler handler);

}  // namespace tilegym::cpu
