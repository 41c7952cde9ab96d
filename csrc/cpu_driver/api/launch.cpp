#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cpu_driver/api/launch_ranges.h"
#include "cpu_driver/api/launch_totals.h"
#include "cpu_driver/api/module.h"
#include "cpu_driver/api/options.h"
#include "cpu_driver/api/stream.h"
#include "cpu_driver/engine/worker_team.h"

namespace tilegym::cpu {
namespace {

using Arguments = std::span<const void* const>;

std::atomic<std::uint64_t> launches{0};
std::atomic<std::uint64_t> nanoseconds{0};

struct OutcomeRow {
  CUresult code;
  const char* prefix;
};

/// By Outcome.
constexpr std::array<OutcomeRow, 6> kOutcomes{{
    {CUDA_SUCCESS, ""},
    {CUDA_ERROR_ILLEGAL_ADDRESS, ""},
    {CUDA_ERROR_ASSERT, ""},
    {CUDA_ERROR_LAUNCH_FAILED, "cancelled: "},
    {CUDA_ERROR_NOT_SUPPORTED, ""},
    {CUDA_ERROR_UNKNOWN, ""},
}};

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

Failure failure_of(const LaunchResult& result, const std::string& op) {
  const OutcomeRow& row = kOutcomes[static_cast<std::size_t>(result.outcome)];
  if (row.code == CUDA_SUCCESS) return {};
  return {row.code, row.prefix + (op.empty() ? "" : op + ": ") + result.report};
}

Failure run_kernel(const Kernel& kernel, Grid grid, Arguments arguments, const LaunchOptions& options,
                   const std::string& op) {
  const auto start = std::chrono::steady_clock::now();
  const LaunchResult result = kernel.launch(grid, arguments, options);
  const std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - start;
  launches.fetch_add(1, std::memory_order_relaxed);
  nanoseconds.fetch_add(static_cast<std::uint64_t>(taken.count()), std::memory_order_relaxed);
  return failure_of(result, op);
}

/// The stream's worker has its own idea of the number of threads; the submitting thread's is what the program set.
LaunchSchedule settled(LaunchSchedule schedule) noexcept {
  if (schedule.threads == 0) schedule.threads = default_team_size();
  return schedule;
}

/// A launch that waits in a stream: owns its arguments and ranges.
class QueuedLaunch {
 public:
  QueuedLaunch(const Function& function, Grid grid, Arguments arguments, const LaunchRanges& ranges)
      : kernel_(function.kernel),
        grid_(grid),
        schedule_(settled(next_schedule())),
        ranges_(ranges),
        values_(function.argument_bytes) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      std::byte* value = values_.data() + function.slots[i].offset;
      std::memcpy(value, arguments[i], function.slots[i].bytes);
      pointers_.push_back(value);
    }
  }

  [[nodiscard]] Failure run() const {
    const LaunchOptions options{ranges_.memory(), &cancel_flag(), schedule_.threads, schedule_.order};
    return run_kernel(*kernel_, grid_, pointers_, options, ranges_.op());
  }

 private:
  const std::shared_ptr<const Kernel> kernel_;
  const Grid grid_;
  const LaunchSchedule schedule_;
  const OwnedRanges ranges_;
  std::vector<std::byte> values_;
  std::vector<const void*> pointers_;
};

CUresult invalid(const char* what, const std::string& wanted, std::span<const unsigned> got) {
  std::string text = std::string(what) + ": wanted " + wanted + ", got (";
  for (std::size_t i = 0; i < got.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(got[i]);
  return fail(CUDA_ERROR_INVALID_VALUE, text + ")");
}

CUresult check_shape(const LaunchCall& call) {
  const auto& [x, y, z] = call.grid;
  if (x == 0 || y == 0 || z == 0 || x > kMaxGridX || y > kMaxGridYZ || z > kMaxGridYZ) {
    return invalid("grid", "1 to (2147483647, 65535, 65535)", call.grid);
  }
  if (call.block != std::array{1U, 1U, 1U})
    return invalid("block", "(1, 1, 1): a tile block is one thread", call.block);
  if (call.shared_bytes != 0) return invalid("dynamic shared memory", "0 bytes", {&call.shared_bytes, 1});
  return CUDA_SUCCESS;
}

/// Argument pointers of a call that packs its values into one buffer.
CUresult unpack(const Function& function, void** extra, std::vector<const void*>& pointers) {
  const std::byte* buffer = nullptr;
  std::size_t bytes = 0;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = static_cast<const std::byte*>(extra[1]);
    if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE) bytes = *static_cast<const std::size_t*>(extra[1]);
  }
  if (bytes < function.argument_bytes || (buffer == nullptr && bytes != 0)) {
    return fail(CUDA_ERROR_INVALID_VALUE, "argument buffer of " + function.name + ": wanted " +
                                              std::to_string(function.argument_bytes) + " bytes, got " +
                                              std::to_string(bytes));
  }
  for (const Function::Slot& slot : function.slots) pointers.push_back(buffer + slot.offset);
  return CUDA_SUCCESS;
}

CUresult find_arguments(const Function& function, const LaunchCall& call, std::vector<const void*>& unpacked,
                        Arguments& arguments) {
  const std::size_t count = function.slots.size();
  if (call.extra != nullptr && call.parameters == nullptr) {
    TILEGYM_CU_TRY(unpack(function, call.extra, unpacked));
    arguments = unpacked;
    return CUDA_SUCCESS;
  }
  if (call.parameters == nullptr && count != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, function.name + ": wanted " + std::to_string(count) + " arguments, got none");
  }
  arguments = {call.parameters, count};
  for (std::size_t i = 0; i < count; ++i) {
    if (arguments[i] == nullptr) {
      return fail(CUDA_ERROR_INVALID_VALUE,
                  function.name + ": the pointer to argument " + std::to_string(i) + " is null");
    }
  }
  return CUDA_SUCCESS;
}

CUresult submit(const Lane& lane, const Function& function, Grid grid, Arguments arguments) {
  const LaunchRanges& ranges = LaunchRanges::of_thread();
  if (lane.stream != nullptr) {
    auto launch = std::make_shared<const QueuedLaunch>(function, grid, arguments, ranges);
    lane.stream->submit({[launch = std::move(launch)] { return launch->run(); }, nullptr});
    return CUDA_SUCCESS;
  }
  TILEGYM_CU_TRY(join_default_stream(*lane.context));
  const LaunchSchedule schedule = next_schedule();
  const LaunchOptions options{ranges.memory(), &cancel_flag(), schedule.threads, schedule.order};
  const Failure failure = run_kernel(*function.kernel, grid, arguments, options, ranges.op());
  return failure.code == CUDA_SUCCESS ? CUDA_SUCCESS : report(failure.code, failure.report);
}

CUresult launch(const LaunchCall& call) {
  const ConsumeSettings consume;
  Lane lane;
  TILEGYM_CU_TRY(find_lane(call.stream, lane));
  Function* function = nullptr;
  TILEGYM_CU_TRY(find_function(call.function, function));
  if (function->context != nullptr && function->context != lane.context) {
    return fail(CUDA_ERROR_INVALID_HANDLE, function->name + " belongs to a module of another context");
  }
  TILEGYM_CU_TRY(check_shape(call));
  std::vector<const void*> unpacked;
  Arguments arguments;
  TILEGYM_CU_TRY(find_arguments(*function, call, unpacked, arguments));
  return submit(lane, *function, call.grid, arguments);
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
    default:
      return false;
  }
}

CUresult check_attributes(const CUlaunchConfig& config) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    if (!has_no_effect(config.attrs[i])) {
      return fail(CUDA_ERROR_NOT_SUPPORTED,
                  "launch attribute " + std::to_string(config.attrs[i].id) + " is not available");
    }
  }
  return CUDA_SUCCESS;
}

}  // namespace

LaunchTotals launch_totals() noexcept {
  return {launches.load(std::memory_order_relaxed), nanoseconds.load(std::memory_order_relaxed)};
}

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

TILEGYM_CU_ALIAS(cuLaunchKernel_ptsz, cuLaunchKernel);
TILEGYM_CU_ALIAS(cuLaunchKernelEx_ptsz, cuLaunchKernelEx);

}  // extern "C"
