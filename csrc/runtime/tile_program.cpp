#include "runtime/tile_program.h"

#define __CUDA_API_VERSION_INTERNAL  // NOLINT(bugprone-reserved-identifier): the header's own switch
#include <cuda.h>
#include <fmt/format.h>

#include <utility>

namespace tilegym::runtime {

/// The driver calls that a program takes.
struct TileProgram::Calls {
  decltype(&cuInit) init;
  decltype(&cuDevicePrimaryCtxRetain) retain;
  decltype(&cuDevicePrimaryCtxRelease_v2) release;
  decltype(&cuCtxPushCurrent_v2) push;
  decltype(&cuCtxPopCurrent_v2) pop;
  decltype(&cuLibraryLoadData) load;
  decltype(&cuLibraryUnload) unload;
  decltype(&cuLibraryGetKernel) kernel;
  decltype(&cuLaunchKernel) launch;

  static Result<Calls> find(const SharedObject& driver) {
    Calls calls{};
    TILEGYM_TRY(driver.symbol("cuInit", calls.init));
    TILEGYM_TRY(driver.symbol("cuDevicePrimaryCtxRetain", calls.retain));
    TILEGYM_TRY(driver.symbol("cuDevicePrimaryCtxRelease_v2", calls.release));
    TILEGYM_TRY(driver.symbol("cuCtxPushCurrent_v2", calls.push));
    TILEGYM_TRY(driver.symbol("cuCtxPopCurrent_v2", calls.pop));
    TILEGYM_TRY(driver.symbol("cuLibraryLoadData", calls.load));
    TILEGYM_TRY(driver.symbol("cuLibraryUnload", calls.unload));
    TILEGYM_TRY(driver.symbol("cuLibraryGetKernel", calls.kernel));
    TILEGYM_TRY(driver.symbol("cuLaunchKernel", calls.launch));
    return calls;
  }
};

/// A loaded library with the primary context that its launches run in.
struct TileProgram::State {
  State(const Calls& driver, const cpu::PrivateTable& private_table) : calls(driver), table(private_table) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (library != nullptr) calls.unload(library);
    if (context != nullptr) calls.release(0);
  }

  [[nodiscard]] std::string last_report() const {
    std::string text(table.last_report(nullptr, 0) + 1, '\0');
    text.resize(table.last_report(text.data(), text.size()));
    return text;
  }
  [[nodiscard]] Status checked(CUresult code) const {
    return code == CUDA_SUCCESS ? Status() : Status(Error{last_report()});
  }

  const Calls calls;
  const cpu::PrivateTable& table;
  CUcontext context = nullptr;
  CUlibrary library = nullptr;
};

namespace {

/// Launch calls take the thread's current context, which belongs to the program around us.
template <class Calls>
class CurrentContext {
 public:
  CurrentContext(const Calls& calls, CUcontext context) : calls_(calls) { calls_.push(context); }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;
  ~CurrentContext() { calls_.pop(nullptr); }

 private:
  const Calls& calls_;
};

void add_ranges(std::span<const LaunchArgument> arguments, std::vector<cpu::RangeRow>& rows) {
  for (const LaunchArgument& argument : arguments) {
    if (argument.is_pointer) rows.push_back({argument.begin, argument.bytes, argument.name.c_str()});
  }
}

}  // namespace

Result<TileProgram> TileProgram::load(const CpuDevice& device, std::span<const std::byte> image) {
  TILEGYM_ASSIGN(const Calls calls, Calls::find(device.library()));
  auto state = std::make_shared<State>(calls, device.table());
  TILEGYM_TRY(state->checked(calls.init(0)));
  TILEGYM_TRY(state->checked(calls.retain(&state->context, 0)));
  TILEGYM_TRY(state->checked(calls.load(&state->library, image.data(), nullptr, nullptr, 0, nullptr, nullptr, 0)));
  return TileProgram(std::move(state));
}

InterruptGuard::WatchFn TileProgram::watch_function() const noexcept {
  return state_->table.watch_cancelled;
}

Status TileProgram::prepare(const std::string& entry) const {
  CUkernel kernel = nullptr;
  return state_->checked(state_->calls.kernel(&kernel, state_->library, entry.c_str()));
}

LaunchFailure TileProgram::launch(const std::string& entry, const LaunchSettings& settings,
                                  std::span<const LaunchArgument> arguments,
                                  std::span<const LaunchArgument> extra) const {
  const Calls& calls = state_->calls;
  const CurrentContext<Calls> current(calls, state_->context);
  CUkernel kernel = nullptr;
  CUresult code = calls.kernel(&kernel, state_->library, entry.c_str());
  std::vector<cpu::RangeRow> ranges;
  add_ranges(arguments, ranges);
  add_ranges(extra, ranges);
  std::vector<void*> values;
  values.reserve(arguments.size());
  for (const LaunchArgument& argument : arguments) values.push_back(const_cast<std::uint64_t*>(&argument.bits));
  if (code == CUDA_SUCCESS) code = static_cast<CUresult>(state_->table.set_launch_schedule(&settings.schedule));
  if (code == CUDA_SUCCESS) {
    code = static_cast<CUresult>(state_->table.set_launch_ranges(ranges.data(), ranges.size(), nullptr));
  }
  const auto& [x, y, z] = settings.grid;
  if (code == CUDA_SUCCESS) {
    code = calls.launch(reinterpret_cast<CUfunction>(kernel), x, y, z, 1, 1, 1, 0, nullptr, values.data(), nullptr);
  }
  return {code, code == CUDA_SUCCESS ? "" : state_->last_report()};
}

}  // namespace tilegym::runtime
