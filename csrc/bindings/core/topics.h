#pragma once

#include <pybind11/pybind11.h>

/// One function per topic; each adds its classes and functions to the module.
namespace tilegym::bindings {

void bind_tensor(pybind11::module_& module);
void bind_library(pybind11::module_& module);
void bind_cpu_device(pybind11::module_& module);
void bind_cpu(pybind11::module_& module);
void bind_compare(pybind11::module_& module);
void bind_build(pybind11::module_& module);
void bind_cache(pybind11::module_& module);
void bind_settings(pybind11::module_& module);
void bind_tile_ir(pybind11::module_& module);

}  // namespace tilegym::bindings
