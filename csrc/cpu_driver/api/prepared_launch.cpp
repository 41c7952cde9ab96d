#include "cpu_driver/api/prepared_launch.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include "cpu_driver/api/launch_totals.h"
#include "cpu_driver/api/options.h"
#include "cpu_driver/engine/worker_team.h"

namespace tilegym::cpu {
namespace {

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

Failure failure_of(const LaunchResult& result, const std::string& op) {
  const OutcomeRow& row = kOutcomes[static_cast<std::size_t>(result.outcome)];
  if (row.code == CUDA_SUCCESS) return {};
  return {row.code, row.prefix + (op.empty() ? "" : op + ": ") + result.report};
}

/// The stream's worker has its own idea of the number of threads; the submitting thread's is what the program set.
LaunchSchedule settled(LaunchSchedule schedule) noexcept {
  if (schedule.threads == 0) schedule.threads = default_team_size();
  return schedule;
}

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
  // Kernels of this device use none of it, so a program's own wish is only held to the limit of the target.
  const auto limit = static_cast<unsigned>(current_target().shared_bytes_per_block);
  if (call.shared_bytes <= limit) return CUDA_SUCCESS;
  return invalid("dynamic shared memory", "at most " + std::to_string(limit) + " bytes", {&call.shared_bytes, 1});
}

/// Argument pointers of a call that packs its values into one buffer.
CUresult unpack(const Function& function, void** extra, std::vector<const void*>& pointers) {
  const std::byte* buffer = nullptr;
  std::size_t bytes = 0;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = static_cast<const std::byte*>(extra[1]);
    if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1] != nullptr)
      bytes = *static_cast<const std::size_t*>(extra[1]);
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

}  // namespace

CUresult check_launch(const LaunchCall& call, const Context& context, CheckedLaunch& out) {
  TILEGYM_CU_TRY(find_function(call.function, out.function));
  if (out.function->context != nullptr && out.function->context != &context) {
    return fail(CUDA_ERROR_INVALID_HANDLE, out.function->name + " belongs to a module of another context");
  }
  TILEGYM_CU_TRY(check_shape(call));
  return find_arguments(*out.function, call, out.unpacked, out.arguments);
}

CUresult prepare_launch(const LaunchCall& call, const Context& context, std::shared_ptr<const PreparedLaunch>& out) {
  CheckedLaunch checked;
  TILEGYM_CU_TRY(check_launch(call, context, checked));
  out = std::make_shared<const PreparedLaunch>(call, *checked.function, checked.arguments);
  return CUDA_SUCCESS;
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

PreparedLaunch::PreparedLaunch(const LaunchCall& call, const Function& function, Arguments arguments)
    : handle_(call.function),
      kernel_(function.kernel),
      grid_(call.grid),
      shared_bytes_(call.shared_bytes),
      schedule_(settled(next_schedule())),
      ranges_(LaunchRanges::of_thread()),
      values_(function.argument_bytes) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::byte* value = values_.data() + function.slots[i].offset;
    std::memcpy(value, arguments[i], function.slots[i].bytes);
    pointers_.push_back(value);
  }
}

Failure PreparedLaunch::run() const {
  const LaunchOptions options{ranges_.memory(), &cancel_flag(), schedule_.threads, schedule_.order};
  return run_kernel(*kernel_, grid_, pointers_, options, ranges_.op());
}

CUDA_KERNEL_NODE_PARAMS PreparedLaunch::node_parameters() const {
  CUDA_KERNEL_NODE_PARAMS told{};
  told.func = handle_;
  told.gridDimX = grid_[0];
  told.gridDimY = grid_[1];
  told.gridDimZ = grid_[2];
  told.blockDimX = told.blockDimY = told.blockDimZ = 1;
  told.sharedMemBytes = shared_bytes_;
  told.kernelParams = const_cast<void**>(pointers_.data());
  return told;
}

LaunchTotals launch_totals() noexcept {
  return {launches.load(std::memory_order_relaxed), nanoseconds.load(std::memory_order_relaxed)};
}

}  // namespace tilegym::cpu
