#pragma once

#include <cstdint>
#include <string>

#include "common/result.h"
#include "cpu_driver/api/private_table.h"
#include "runtime/shared_object.h"

namespace tilegym::runtime {

/// Launches that the CPU device has finished since it was loaded.
struct LaunchTotals {
  std::uint64_t launches = 0;
  std::uint64_t nanoseconds = 0;  ///< of the engine's clock
};

/// The GPU that the CPU device stands in for.
struct DeviceTarget {
  int compute_capability = 0;  ///< 90 for sm_90
  int multiprocessors = 0;
};

/// The runtime's own way to the CPU device: the private table of the stand-in driver. Every member may be called from
/// any thread.
class CpuDevice {
 public:
  /// Loads the stand-in driver, which stays in the process. The error says why the file is not one.
  [[nodiscard]] static Result<CpuDevice> open(const std::string& path);

  [[nodiscard]] const std::string& path() const noexcept { return library_.path(); }
  [[nodiscard]] LaunchTotals totals() const noexcept;
  /// The error carries the driver's code.
  [[nodiscard]] Result<DeviceTarget> target() const;
  /// Sets an option such as "threads"; the error names an option or a value that the device does not take.
  [[nodiscard]] Status configure(const std::string& name, const std::string& value) const;
  [[nodiscard]] const SharedObject& library() const noexcept { return library_; }
  [[nodiscard]] const cpu::PrivateTable& table() const noexcept { return *table_; }
  /// Makes the calling thread's launches poll a flag of its own; see PrivateTable::watch_cancelled.
  [[nodiscard]] auto watch_function() const noexcept { return table_->watch_cancelled; }

 private:
  CpuDevice(SharedObject library, const cpu::PrivateTable* table) : library_(std::move(library)), table_(table) {}

  SharedObject library_;
  const cpu::PrivateTable* table_;
};

}  // namespace tilegym::runtime
