#include <torch/csrc/utils/pybind.h>
#include <torch/version.h>

#include <stdexcept>

#include "bindings/comparison.h"
#include "bindings/torch/bridge.h"
#include "bindings/torch/compare.h"

namespace tilegym::bindings {
namespace {

namespace py = pybind11;
using validation::Comparison;

Comparison compare_tensors(const at::Tensor& actual, const at::Tensor& expected, double rtol, double atol,
                           bool equal_nan) {
  if (!(rtol >= 0 && atol >= 0)) throw std::invalid_argument("compare(): wanted tolerances of at least 0");
  const py::gil_scoped_release unlocked;
  return compare(actual, expected, {rtol, atol, equal_nan});
}

}  // namespace
}  // namespace tilegym::bindings

PYBIND11_MODULE(TILEGYM_TORCH_MODULE, module) {
  namespace py = pybind11;
  module.doc() = "What tilegym does with libtorch; works with the torch version in its name only.";
  module.attr("built_for_torch") = TORCH_VERSION;
  module.attr("bridge") = py::capsule(&tilegym::bindings::torch_bridge(), tilegym::bindings::TorchBridge::kCapsule);
  tilegym::bindings::bind_comparison(module);
  module.def(
      "compare", tilegym::bindings::compare_tensors, py::arg("actual"), py::arg("expected"), py::kw_only(),
      py::arg("rtol"), py::arg("atol"), py::arg("equal_nan") = false,
      "Compares two tensors of one shape in float64, on the device of the first. Raises ValueError for different "
      "shapes.");
}
