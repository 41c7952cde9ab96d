#pragma once

#include <cstdint>
#include <functional>

namespace tilegym::cpu {

/// Runs `body(worker, block)` for every block in [0, blocks) on up to `threads` workers (0: as many as the threading
/// layer has; worker < max_workers()). Blocks are handed out dynamically in chunks; their order is not defined. A body
/// that returns false or throws ends the loop early: blocks not yet started are skipped. Returns whether all bodies ran
/// and returned true; no exception crosses. Bodies run with the default floating-point environment (round to nearest,
/// subnormals kept, exceptions masked), whatever the caller's is.
///
/// Runs serially on the calling thread, as worker 0, in a forked child, inside another parallel region, or while
/// another thread's loop is running. Starting workers costs a few microseconds: pass threads = 1 for shorter loops.
bool for_each_block(std::uint64_t blocks, int threads,
                    const std::function<bool(int worker, std::uint64_t block)>& body);

/// Upper bound of the worker index plus one, for per-worker storage. Constant for the life of the process.
[[nodiscard]] int max_workers() noexcept;

/// Whether the process is a forked child of the one that loaded the library: worker threads do not survive a fork.
[[nodiscard]] bool in_forked_child() noexcept;

}  // namespace tilegym::cpu
