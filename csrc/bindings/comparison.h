#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "validation/compare.h"

namespace tilegym::bindings {

/// Adds the classes Comparison and Mismatch. Both extension modules return them, so each registers its own.
inline void bind_comparison(pybind11::module_& module) {
  namespace py = pybind11;
  using validation::Comparison;
  using validation::Mismatch;
  py::class_<Mismatch>(module, "Mismatch", py::module_local(), "An element that does not match.")
      .def_property_readonly("index", [](const Mismatch& mismatch) { return py::tuple(py::cast(mismatch.index)); })
      .def_readonly("actual", &Mismatch::actual)
      .def_readonly("expected", &Mismatch::expected);
  py::class_<Comparison>(module, "Comparison", py::module_local(), "How far one tensor is from another.")
      .def_readonly("elements", &Comparison::elements)
      .def_readonly("mismatches", &Comparison::mismatches)
      .def_readonly("nan_in_both", &Comparison::nan_in_both)
      .def_readonly("nan_in_actual", &Comparison::nan_in_actual, "NaN only there.")
      .def_readonly("nan_in_expected", &Comparison::nan_in_expected, "NaN only there.")
      .def_readonly("max_abs_error", &Comparison::max_abs_error, "Over pairs without a NaN.")
      .def_readonly("max_rel_error", &Comparison::max_rel_error, "Infinite where only expected is 0.")
      .def_readonly("first_mismatch", &Comparison::first_mismatch, "In row-major order; None where all match.")
      .def_property_readonly("matches", &Comparison::matches);
}

}  // namespace tilegym::bindings
