#pragma once

#include "cpu_driver/api/private_table.h"
#include "cpu_driver/api/report.h"
#include "cpu_driver/engine/block_order.h"

namespace tilegym::cpu {

/// How a launch spreads its tile blocks.
struct LaunchSchedule {
  int threads = 0;  ///< upper limit of workers; 0: as many as the threading layer has
  BlockOrder order;
};

/// Sets the schedule of the calling thread's next launch; a null row takes it back.
CUresult set_next_schedule(const ScheduleRow* row);
/// The schedule of the calling thread's next launch: the options of the device where none was set.
[[nodiscard]] LaunchSchedule next_schedule() noexcept;
void clear_next_schedule() noexcept;

}  // namespace tilegym::cpu
