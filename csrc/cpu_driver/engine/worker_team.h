#pragma once

#include <functional>

/// The threading layer below block_scheduler.h: OpenMP on the process's libgomp, so that torch's workers are ours too;
/// std::thread with TILEGYM_STD_THREADS, because the thread sanitizer does not see libgomp's barriers.
namespace tilegym::cpu {

/// Runs `work(worker)` once for every worker that joins, worker 0 on the calling thread, and returns when all are done.
/// At most `workers` join, fewer where threads cannot be had. `work` must not throw.
void run_worker_team(int workers, const std::function<void(int worker)>& work);

/// Whether the calling thread is a member of a parallel region (ours or anyone's).
[[nodiscard]] bool in_worker_team() noexcept;
/// How many workers the calling thread would get; follows torch.set_num_threads.
[[nodiscard]] int default_team_size() noexcept;
[[nodiscard]] int processor_count() noexcept;

}  // namespace tilegym::cpu
