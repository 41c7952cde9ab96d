#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <utility>

#include "common/thread_state.h"
#include "cpu_driver/engine/block_scheduler.h"
#include "cpu_driver/engine/engine.h"
#include "cpu_driver/engine/executor.h"
#include "cpu_driver/engine/frame.h"
#include "cpu_driver/engine/global_memory.h"
#include "cpu_driver/engine/lowering.h"
#include "cpu_driver/engine/report.h"

namespace tilegym::cpu {
namespace {

std::size_t rounded(std::size_t bytes) {
  return (bytes + kVectorBytes - 1) / kVectorBytes * kVectorBytes;
}

/// The worker's state, kept from launch to launch. `launch` is the launch it is set up for.
struct Worker {
  Arena arena;
  Frame frame;
  /// The launch's ranges with the memory that the kernel brings along.
  MemoryMap memory;
  std::uint64_t launch = 0;
};

std::int64_t argument_bits(const PlannedParameter& parameter, const void* argument) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, argument, tile_ir::byte_size(parameter.element));
  return lane_bits(parameter.element, bits);
}

/// One launch: its grid and arguments, and the first fault of any worker.
class Launch {
 public:
  Launch(const Plan& plan, Grid grid, std::span<const void* const> arguments, const LaunchOptions& options)
      : plan_(plan), grid_(grid), options_(options), slots_(plan.slots), id_(++launches) {
    for (std::size_t i = 0; i < plan.parameters.size(); ++i) {
      slots_[plan.parameters[i].slot] = argument_bits(plan.parameters[i], arguments[i]);
    }
    for (std::size_t d = 0; d < 3; ++d) slots_[plan.num_blocks[d]] = grid[d];
  }

  LaunchResult run(BlockPace& pace) {
    const std::uint64_t blocks = std::uint64_t{grid_[0]} * grid_[1] * grid_[2];
    const int threads = plan_.shares_allocations ? 1 : options_.threads;
    const BlockSequence sequence(options_.order, blocks);
    const bool ok = for_each_block(blocks, threads, pace,
                                   [&](int, std::uint64_t position) { return run_block(sequence.block_at(position)); });
    if (!ok && result_.outcome == Outcome::ok)
      result_ = {Outcome::internal, "kernel " + plan_.name + ": out of memory"};
    return std::move(result_);
  }

 private:
  bool run_block(std::uint64_t block) {
    Worker& worker = ThreadState<Worker>::get();
    if (worker.launch != id_) set_up(worker);
    const std::array<std::uint32_t, 3> index{static_cast<std::uint32_t>(block % grid_[0]),
                                             static_cast<std::uint32_t>(block / grid_[0] % grid_[1]),
                                             static_cast<std::uint32_t>(block / grid_[0] / grid_[1])};
    for (std::size_t d = 0; d < 3; ++d) worker.frame.slots[plan_.block_id[d]] = static_cast<std::int32_t>(index[d]);
    if (!worker.frame.cancelled() && run_steps(plan_.body, worker.frame) != Jump::fault) return true;
    if (worker.frame.fault.outcome == Outcome::cancelled) {
      return fail({Outcome::cancelled, "kernel " + plan_.name + " was cancelled"});
    }
    return fail({worker.frame.fault.outcome, describe_fault(plan_, worker.frame, index)});
  }

  void set_up(Worker& worker) const {
    constexpr std::size_t kStripBytes = kStripLanes * sizeof(std::int64_t) + kVectorBytes;
    const std::size_t buffers = rounded(plan_.arena_bytes);
    const std::size_t registers = rounded(plan_.register_bytes);
    std::byte* memory = worker.arena.reserve(buffers + registers + 2 * kStripBytes);
    Frame& frame = worker.frame;
    frame.plan = &plan_;
    frame.cancel = options_.cancel;
    frame.slots = slots_;
    frame.buffers.clear();
    for (const std::size_t offset : plan_.buffers) frame.buffers.push_back(memory + offset);
    for (const auto& [buffer, bytes] : plan_.constants) std::memcpy(frame.buffers[buffer], bytes.data(), bytes.size());
    frame.registers = memory + buffers;
    frame.addresses = reinterpret_cast<std::int64_t*>(memory + buffers + registers);
    frame.spare = memory + buffers + registers + kStripBytes;
    frame.fault = {};
    place_allocations(worker);
    worker.launch = id_;
  }

  void place_allocations(Worker& worker) const {
    Frame& frame = worker.frame;
    frame.memory = options_.memory;
    if (plan_.allocations.empty() && plan_.globals == nullptr) return;
    worker.memory.assign(options_.memory != nullptr ? *options_.memory : MemoryMap{});
    if (options_.memory != nullptr) frame.memory = &worker.memory;
    if (plan_.globals != nullptr) add_globals(*plan_.globals, worker.memory);
    for (const Allocation& allocation : plan_.allocations) {
      const auto start = reinterpret_cast<std::uintptr_t>(frame.buffers[allocation.buffer]);
      const std::uintptr_t begin = (start + allocation.alignment - 1) / allocation.alignment * allocation.alignment;
      frame.slots[allocation.address] = static_cast<std::int64_t>(begin);
      worker.memory.add({begin, begin + allocation.bytes, "alloca"});
    }
  }

  /// Keeps the first failure.
  bool fail(LaunchResult result) {
    const std::scoped_lock lock(mutex_);
    if (result_.outcome == Outcome::ok) result_ = std::move(result);
    return false;
  }

  static inline std::atomic<std::uint64_t> launches{0};

  const Plan& plan_;
  const Grid grid_;
  const LaunchOptions& options_;
  std::vector<std::int64_t> slots_;
  const std::uint64_t id_;
  std::mutex mutex_;
  LaunchResult result_;
};

class PlannedKernel final : public Kernel {
 public:
  explicit PlannedKernel(Plan plan) : plan_(std::move(plan)) {
    for (const PlannedParameter& parameter : plan_.parameters) parameters_.push_back(parameter.parameter);
  }

  [[nodiscard]] std::string_view name() const noexcept override { return plan_.name; }
  [[nodiscard]] std::span<const Parameter> parameters() const noexcept override { return parameters_; }
  [[nodiscard]] LaunchResult launch(Grid grid, std::span<const void* const> arguments,
                                    const LaunchOptions& options) const override {
    if (arguments.size() < parameters_.size()) {
      return {Outcome::internal, "kernel " + plan_.name + ": wanted " + std::to_string(parameters_.size()) +
                                     " arguments, got " + std::to_string(arguments.size())};
    }
    return Launch(plan_, grid, arguments, options).run(pace_);
  }

 private:
  Plan plan_;
  std::vector<Parameter> parameters_;
  mutable BlockPace pace_;
};

}  // namespace

Result<std::unique_ptr<const Kernel>> lower_kernel(std::shared_ptr<const tile_ir::Module> module,
                                                   const tile_ir::Function& entry,
                                                   std::shared_ptr<const GlobalMemory> globals) {
  for (const auto carrying : {Lowering::Carrying::symbolic, Lowering::Carrying::materialised}) {
    Plan plan;
    plan.globals = globals;
    Lowering lowering(*module, entry, plan, carrying);
    Status status = lowering.run();
    if (status.ok()) return std::unique_ptr<const Kernel>(std::make_unique<PlannedKernel>(std::move(plan)));
    if (!lowering.lost_linear_carrier()) return status.error();
  }
  return Error{"kernel " + entry.name + ": a loop could not be lowered"};
}

}  // namespace tilegym::cpu
