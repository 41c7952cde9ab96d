#include <torch/csrc/utils/pybind.h>
#include <torch/version.h>

#include "bindings/torch/bridge.h"

PYBIND11_MODULE(TILEGYM_TORCH_MODULE, module) {
  namespace py = pybind11;
  module.doc() = "What tilegym does with libtorch; works with the torch version in its name only.";
  module.attr("built_for_torch") = TORCH_VERSION;
  module.attr("bridge") = py::capsule(&tilegym::bindings::torch_bridge(), tilegym::bindings::TorchBridge::kCapsule);
}
