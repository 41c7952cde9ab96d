#include "bindings/core/topics.h"

PYBIND11_MODULE(_core, module) {
  module.doc() = "The C++ runtime of tilegym: kernel library, tensors, comparison, settings and build.";
  tilegym::bindings::bind_tensor(module);
  tilegym::bindings::bind_cpu_device(module);
  tilegym::bindings::bind_cpu(module);
  tilegym::bindings::bind_library(module);
  tilegym::bindings::bind_compare(module);
  tilegym::bindings::bind_build(module);
  tilegym::bindings::bind_cache(module);
  tilegym::bindings::bind_settings(module);
  tilegym::bindings::bind_tile_ir(module);
}
