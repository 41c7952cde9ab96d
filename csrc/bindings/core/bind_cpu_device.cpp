#include <pybind11/stl/filesystem.h>

#include <filesystem>

#include "bindings/core/errors.h"
#include "bindings/core/topics.h"
#include "runtime/driver_binding.h"

namespace tilegym::bindings {
namespace {

namespace py = pybind11;
using runtime::CpuDevice;
using runtime::DeviceTarget;
using runtime::LaunchTotals;

/// The value, or its error as KernelError.
template <class T>
T value_of(Result<T> result) {
  if (!result) throw_kernel_error(result.error().message);
  return std::move(result).value();
}

CpuDevice open(const std::filesystem::path& path) {
  return value_of(CpuDevice::open(path.string()));
}

DeviceTarget target(const CpuDevice& device) {
  return value_of(device.target());
}

void configure(const CpuDevice& device, const std::string& name, const std::string& value) {
  if (const Status status = device.configure(name, value); !status) throw py::value_error(status.error().message);
}

}  // namespace

void bind_cpu_device(py::module_& module) {
  py::class_<LaunchTotals>(module, "LaunchTotals", "Launches that the CPU device has finished.")
      .def_readonly("launches", &LaunchTotals::launches)
      .def_readonly("nanoseconds", &LaunchTotals::nanoseconds, "Of the engine's clock, summed over the launches.");

  py::class_<DeviceTarget>(module, "DeviceTarget", "The GPU that the CPU device stands in for.")
      .def_readonly("compute_capability", &DeviceTarget::compute_capability, "90 for sm_90.")
      .def_readonly("multiprocessors", &DeviceTarget::multiprocessors);

  py::class_<CpuDevice>(module, "CpuDevice", "The CPU as a device: the stand-in driver.")
      .def(py::init(&open), py::arg("path"), "Loads the stand-in driver. Raises KernelError.")
      .def_property_readonly("path", &CpuDevice::path)
      .def_property_readonly("target", target)
      .def("launch_totals", &CpuDevice::totals)
      .def("configure", configure, py::arg("name"), py::arg("value"),
           "Sets an option, such as \"threads\". Raises ValueError for one that the device does not take.");
}

}  // namespace tilegym::bindings
