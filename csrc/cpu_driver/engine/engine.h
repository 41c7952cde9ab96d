#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "cpu_driver/engine/block_order.h"
#include "tile_ir/module.h"

namespace tilegym::cpu {

/// Memory a launch may touch: half-open byte ranges with the names of the arguments they come from.
class MemoryMap;

/// One parameter of an entry, as the driver's parameter array passes it: a pointer to `bytes` bytes.
struct Parameter {
  std::size_t bytes = 0;
  bool is_pointer = false;
};

using Grid = std::array<std::uint32_t, 3>;

enum class Outcome : std::uint8_t { ok, illegal_address, assertion, cancelled, unsupported, internal };

/// What a launch came to; `report` names kernel, operation, argument and element where it is not ok.
struct LaunchResult {
  Outcome outcome = Outcome::ok;
  std::string report;
};

struct LaunchOptions {
  /// Ranges the kernel may access; null: every address is allowed (raw driver users).
  const MemoryMap* memory = nullptr;
  /// Polled once per tile block and turn of a loop; true ends the launch with Outcome::cancelled.
  const std::atomic<bool>* cancel = nullptr;
  /// Upper limit of worker threads; 0: as many as the threading layer has.
  int threads = 0;
  BlockOrder order = {};
};

/// An entry lowered to a plan. Immutable; any number of threads may launch it at once.
class Kernel {
 public:
  virtual ~Kernel() = default;
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  [[nodiscard]] virtual std::span<const Parameter> parameters() const noexcept = 0;
  /// Runs all tile blocks of `grid` and returns when they are done. `arguments` holds one pointer per parameter.
  [[nodiscard]] virtual LaunchResult launch(Grid grid, std::span<const void* const> arguments,
                                            const LaunchOptions& options) const = 0;
};

/// The globals of a loaded module, set to their initial values. Kernels of the module share one.
class GlobalMemory;
[[nodiscard]] Result<std::shared_ptr<const GlobalMemory>> allocate_globals(const tile_ir::Module& module);
/// Address and size of a global; an empty span where there is none of that name.
[[nodiscard]] std::span<std::byte> find_global(const GlobalMemory& globals, std::string_view name) noexcept;

/// Lowers an entry to a plan. `globals` may be null where the entry uses none. The error names an operation or type
/// that the engine does not execute.
[[nodiscard]] Result<std::unique_ptr<const Kernel>> lower_kernel(std::shared_ptr<const tile_ir::Module> module,
                                                                 const tile_ir::Function& entry,
                                                                 std::shared_ptr<const GlobalMemory> globals = nullptr);

}  // namespace tilegym::cpu
