#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "cpu_driver/api/launch_ranges.h"
#include "cpu_driver/api/module.h"

namespace tilegym::cpu {

using Arguments = std::span<const void* const>;

/// One launch call as the program made it.
struct LaunchCall {
  CUfunction function = nullptr;
  Grid grid{};
  std::array<unsigned, 3> block{};
  unsigned shared_bytes = 0;
  CUstream stream = nullptr;
  void** parameters = nullptr;
  void** extra = nullptr;
};

/// A launch that waits in a stream or a graph: owns its arguments and ranges, with the schedule of the thread that made
/// it.
class PreparedLaunch {
 public:
  /// Precondition: check_launch() accepts the call.
  PreparedLaunch(const LaunchCall& call, const Function& function, Arguments arguments);
  PreparedLaunch(const PreparedLaunch&) = delete;
  PreparedLaunch& operator=(const PreparedLaunch&) = delete;

  [[nodiscard]] Failure run() const;
  /// What graph calls tell of it; the pointers go into this object.
  [[nodiscard]] CUDA_KERNEL_NODE_PARAMS node_parameters() const;

 private:
  const CUfunction handle_;
  const std::shared_ptr<const Kernel> kernel_;
  const Grid grid_;
  const unsigned shared_bytes_;
  const LaunchSchedule schedule_;
  const OwnedRanges ranges_;
  std::vector<std::byte> values_;
  std::vector<const void*> pointers_;
};

/// A call that has passed every check. Not to be moved: the arguments may point into it.
struct CheckedLaunch {
  Function* function = nullptr;
  Arguments arguments;
  std::vector<const void*> unpacked;
};

/// Checks a call that will run in `context`.
CUresult check_launch(const LaunchCall& call, const Context& context, CheckedLaunch& out);
/// Checks a call and copies its arguments.
CUresult prepare_launch(const LaunchCall& call, const Context& context, std::shared_ptr<const PreparedLaunch>& out);

/// Runs and counts a launch on the calling thread.
Failure run_kernel(const Kernel& kernel, Grid grid, Arguments arguments, const LaunchOptions& options,
                   const std::string& op);

}  // namespace tilegym::cpu
