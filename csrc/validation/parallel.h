#pragma once

#include <cstdint>
#include <functional>

namespace tilegym::validation {

/// How many workers run_segments would use: OpenMP's number for the calling thread; 1 inside a parallel region, in a
/// forked child, where OpenMP's threads are gone, and without OpenMP.
[[nodiscard]] int worker_count(std::int64_t segments) noexcept;

/// Calls body(worker, segment) for every segment, each once, with the default floating point environment: no subnormal
/// number is flushed. `body` must not throw.
void run_segments(std::int64_t segments, int workers, const std::function<void(int, std::int64_t)>& body);

}  // namespace tilegym::validation
