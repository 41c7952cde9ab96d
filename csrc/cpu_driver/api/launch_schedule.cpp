#include "cpu_driver/api/launch_schedule.h"

#include <climits>
#include <optional>
#include <string>

#include "cpu_driver/api/options.h"

namespace tilegym::cpu {
namespace {

thread_local std::optional<LaunchSchedule> next;

}  // namespace

CUresult set_next_schedule(const ScheduleRow* row) {
  next.reset();
  if (row == nullptr) return CUDA_SUCCESS;
  if (row->order > static_cast<std::uint32_t>(BlockOrder::Kind::shuffled)) {
    return fail(CUDA_ERROR_INVALID_VALUE,
                "block order: wanted 0 (forward), 1 (reversed) or 2 (shuffled), got " + std::to_string(row->order));
  }
  if (row->threads > INT_MAX) return fail(CUDA_ERROR_INVALID_VALUE, "threads: wanted at most 2147483647");
  const int threads = row->threads != 0 ? static_cast<int>(row->threads) : thread_limit();
  next = LaunchSchedule{threads, {static_cast<BlockOrder::Kind>(row->order), row->seed}};
  return CUDA_SUCCESS;
}

LaunchSchedule next_schedule() noexcept {
  return next ? *next : LaunchSchedule{thread_limit(), block_order()};
}

void clear_next_schedule() noexcept {
  next.reset();
}

}  // namespace tilegym::cpu
