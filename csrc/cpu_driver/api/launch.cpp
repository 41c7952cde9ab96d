#include <memory>
#include <string>
#include <utility>

#include "cpu_driver/api/options.h"
#include "cpu_driver/api/prepared_launch.h"
#include "cpu_driver/api/stream.h"

namespace tilegym::cpu {
namespace {

/// Runs on the calling thread, with the arguments where they are.
CUresult run_now(Context& context, const CheckedLaunch& checked, Grid grid) {
  TILEGYM_CU_TRY(join_default_stream(context));
  const LaunchRanges& ranges = LaunchRanges::of_thread();
  const LaunchSchedule schedule = next_schedule();
  const LaunchOptions options{ranges.memory(), &cancel_flag_of_thread(), schedule.threads, schedule.order};
  const Failure failure = run_kernel(*checked.function->kernel, grid, checked.arguments, options, ranges.op());
  return failure.code == CUDA_SUCCESS ? CUDA_SUCCESS : report(failure.code, failure.report);
}

CUresult launch(const LaunchCall& call) {
  const ConsumeSettings consume;
  Lane lane;
  TILEGYM_CU_TRY(find_lane(call.stream, lane));
  CheckedLaunch checked;
  TILEGYM_CU_TRY(check_launch(call, *lane.context, checked));
  if (lane.stream == nullptr) return run_now(*lane.context, checked, call.grid);
  return issue(lane, std::make_shared<const PreparedLaunch>(call, *checked.function, checked.arguments));
}

/// Launch attributes that change nothing on this device: order is kept and placement has no meaning.
bool has_no_effect(const CUlaunchAttribute& attribute) noexcept {
  switch (attribute.id) {
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      return true;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      return attribute.value.cooperative == 0;
    default:
      return false;
  }
}

CUresult check_attributes(const CUlaunchConfig& config) {
  if (config.attrs == nullptr && config.numAttrs != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the launch attributes are null");
  }
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    if (!has_no_effect(config.attrs[i])) {
      return fail(CUDA_ERROR_NOT_SUPPORTED,
                  "launch attribute " + std::to_string(config.attrs[i].id) + " is not available");
    }
  }
  return CUDA_SUCCESS;
}

}  // namespace

}  // namespace tilegym::cpu

using namespace tilegym::cpu;

extern "C" {

CUresult CUDAAPI cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                CUstream stream, void** parameters, void** extra) {
  return entry(__func__, [&] {
    return launch(
        {function, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, stream, parameters, extra});
  });
}

CUresult CUDAAPI cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra) {
  return entry(__func__, [&]() -> CUresult {
    const ConsumeSettings consume;
    if (config == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the launch configuration is null");
    TILEGYM_CU_TRY(check_attributes(*config));
    return launch({function,
                   {config->gridDimX, config->gridDimY, config->gridDimZ},
                   {config->blockDimX, config->blockDimY, config->blockDimZ},
                   config->sharedMemBytes,
                   config->hStream,
                   parameters,
                   extra});
  });
}

}  // extern "C"
