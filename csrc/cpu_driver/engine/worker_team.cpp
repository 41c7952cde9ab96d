#include "cpu_driver/engine/worker_team.h"

#if defined(TILEGYM_STD_THREADS)
#include <algorithm>
#include <system_error>
#include <thread>
#include <vector>
#else
#include <omp.h>
#endif

namespace tilegym::cpu {

#if defined(TILEGYM_STD_THREADS)

namespace {
thread_local bool inside_team = false;

void join_in(const std::function<void(int)>& work, int worker) {
  inside_team = true;
  work(worker);
  inside_team = false;
}
}  // namespace

void run_worker_team(int workers, const std::function<void(int worker)>& work) {
  std::vector<std::thread> others;
  others.reserve(static_cast<std::size_t>(workers));
  try {
    for (int worker = 1; worker < workers; ++worker) others.emplace_back(join_in, std::cref(work), worker);
  } catch (const std::system_error&) {
    // The machine is out of threads: those that started share the work.
  }
  join_in(work, 0);
  for (std::thread& other : others) other.join();
}

bool in_worker_team() noexcept {
  return inside_team;
}
int default_team_size() noexcept {
  return processor_count();
}
int processor_count() noexcept {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

#else

void run_worker_team(int workers, const std::function<void(int worker)>& work) {
#pragma omp parallel num_threads(workers)
  work(omp_get_thread_num());
}

bool in_worker_team() noexcept {
  return omp_in_parallel() != 0;
}
int default_team_size() noexcept {
  return omp_get_max_threads();
}
int processor_count() noexcept {
  return omp_get_num_procs();
}

#endif

}  // namespace tilegym::cpu
