#pragma once

#include <cstdint>
#include <functional>

namespace tilegym::cpu {

/// Runs `body(worker, block)` for every block in [0, blocks) on up to `threads` workers (0: as many as the threading
/// layer has; worker < max_workers()). Blocks are handed out dynamically in chunks; their order is not defined. A body
/// that returns false ends the loop early: blocks not yet started are skipped. Returns whether all bodies ran and
/// returned true. Runs serially on the calling thread in a forked child, inside another parallel region, or while
/// another thread's loop is running.
bool for_each_block(std::uint64_t blocks, int threads, const std::function<bool(int worker, std::uint64_t block)>& body);

/// Upper bound of the worker index plus one, for per-worker storage.
[[nodiscard]] int max_workers() noexcept;

}  // namespace tilegym::cpu
