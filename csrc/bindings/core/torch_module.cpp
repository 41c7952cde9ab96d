#include "bindings/core/torch_module.h"

#include <fmt/format.h>
#include <pybind11/pybind11.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace tilegym::bindings {
namespace {

namespace py = pybind11;

bool tried = false;
bool in_use = true;
const TorchBridge* bridge = nullptr;

/// "2.11.0" of "2.11.0+cu130".
std::string_view release_of(std::string_view version) {
  return version.substr(0, version.find('+'));
}

/// "tilegym_rs._torch_2_11" for torch 2.11.
std::string module_for(std::string_view version) {
  std::string name(version.substr(0, version.find('.', version.find('.') + 1)));
  std::ranges::replace(name, '.', '_');
  return "tilegym_rs._torch_" + name;
}

const TorchBridge* import_bridge() {
  const auto running = py::module_::import("torch").attr("__version__").cast<std::string>();
  const auto module = py::module_::import(module_for(running).c_str());
  const auto built_for = module.attr("built_for_torch").cast<std::string>();
  // Inline functions of torch's headers are in that module: another release may lay things out otherwise.
  if (release_of(built_for) != release_of(running)) return nullptr;
  const auto* found = module.attr("bridge").cast<py::capsule>().get_pointer<const TorchBridge>();
  return found->size == sizeof(TorchBridge) ? found : nullptr;
}

}  // namespace

const TorchBridge* torch_bridge() noexcept {
  if (!tried) {
    tried = true;
    try {
      bridge = import_bridge();
    } catch (py::error_already_set&) {  // not built for this torch: doctor tells
    } catch (const std::exception&) {
    }
  }
  return loaded_torch_bridge();
}

const TorchBridge* loaded_torch_bridge() noexcept {
  return in_use ? bridge : nullptr;
}

void use_torch_bridge(bool wanted) noexcept {
  in_use = wanted;
}

}  // namespace tilegym::bindings
