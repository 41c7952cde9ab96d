#include "runtime/driver_binding.h"

#include <fmt/format.h>

namespace tilegym::runtime {
namespace {

// cuda.h is not needed for three calls: CUresult is an int, CUuuid sixteen bytes.
using GetExportTable = int (*)(const void** table, const void* id);

using Init = int (*)(unsigned flags);
using DeviceGetAttribute = int (*)(int* value, int attribute, int device);

constexpr int kSuccess = 0;
// CUdevice_attribute; the stand-in has one device, number 0.
constexpr int kMultiprocessorCount = 16;
constexpr int kCapabilityMajor = 75;
constexpr int kCapabilityMinor = 76;
constexpr int kDevice = 0;

Result<const cpu::PrivateTable*> private_table(const SharedObject& library) {
  GetExportTable get_table = nullptr;
  TILEGYM_TRY(library.symbol("cuGetExportTable", get_table));
  const void* address = nullptr;
  if (get_table(&address, cpu::kPrivateTableId) != kSuccess || address == nullptr) {
    return Error{
        fmt::format("CPU device: wanted the stand-in driver of this package, got another CUDA driver at '{}'; "
                    "pass the path of libtilegym_cpu_driver.so",
                    library.path())};
  }
  const auto* table = static_cast<const cpu::PrivateTable*>(address);
  if (table->size < sizeof(cpu::PrivateTable)) {
    return Error{
        fmt::format("CPU device: wanted a private table of at least {} bytes, '{}' has {}; rebuild the package",
                    sizeof(cpu::PrivateTable), library.path(), table->size)};
  }
  return table;
}

}  // namespace

Result<CpuDevice> CpuDevice::open(const std::string& path) {
  TILEGYM_ASSIGN(SharedObject library, SharedObject::open("CPU device", path));
  TILEGYM_ASSIGN(const cpu::PrivateTable* table, private_table(library));
  library.keep();
  return CpuDevice(std::move(library), table);
}

Result<DeviceTarget> CpuDevice::target() const {
  Init init = nullptr;
  DeviceGetAttribute attribute = nullptr;
  TILEGYM_TRY(library_.symbol("cuInit", init));
  TILEGYM_TRY(library_.symbol("cuDeviceGetAttribute", attribute));
  DeviceTarget target;
  int major = 0;
  int minor = 0;
  int code = init(0);
  if (code == kSuccess) code = attribute(&target.multiprocessors, kMultiprocessorCount, kDevice);
  if (code == kSuccess) code = attribute(&major, kCapabilityMajor, kDevice);
  if (code == kSuccess) code = attribute(&minor, kCapabilityMinor, kDevice);
  if (code != kSuccess) {
    return Error{fmt::format("CPU device: '{}' does not tell its properties, error {}; rebuild the package",
                             library_.path(), code)};
  }
  target.compute_capability = major * 10 + minor;
  return target;
}

LaunchTotals CpuDevice::totals() const noexcept {
  LaunchTotals totals;
  table_->launch_totals(&totals.launches, &totals.nanoseconds);
  return totals;
}

Status CpuDevice::configure(const std::string& name, const std::string& value) const {
  if (table_->configure(name.c_str(), value.c_str()) == kSuccess) return {};
  return Error{fmt::format("CPU device: option '{}' with value '{}' is not one that the device takes", name, value)};
}

}  // namespace tilegym::runtime
