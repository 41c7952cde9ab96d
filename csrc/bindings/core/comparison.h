#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "validation/compare.h"

namespace tilegym::bindings {

inline void bind_mismatches(pybind11::module_& module) {
  namespace py = pybind11;
  using validation::BlockErrors;
  using validation::BlockMap;
  using validation::Mismatch;
  const auto as_tuple = [](const std::vector<std::int64_t>& values) { return py::tuple(py::cast(values)); };
  py::class_<Mismatch>(module, "Mismatch", "An element that does not match.")
      .def_property_readonly("index", [as_tuple](const Mismatch& mismatch) { return as_tuple(mismatch.index); })
      .def_readonly("actual", &Mismatch::actual)
      .def_readonly("expected", &Mismatch::expected);
  py::class_<BlockErrors>(module, "BlockErrors", "A tile block with an error or a mismatch.")
      .def_property_readonly("block", [as_tuple](const BlockErrors& errors) { return as_tuple(errors.block); })
      .def_readonly("mismatches", &BlockErrors::mismatches)
      .def_readonly("max_abs_error", &BlockErrors::max_abs_error, "Over its pairs without a NaN, matching ones too.");
  py::class_<BlockMap>(module, "BlockMap", "Errors by tile block.")
      .def_property_readonly("extents", [as_tuple](const BlockMap& map) { return as_tuple(map.extents); })
      .def_property_readonly("grid", [as_tuple](const BlockMap& map) { return as_tuple(map.grid); })
      .def_readonly("blocks", &BlockMap::blocks, "Blocks with an error or a mismatch, in row-major order.");
}

/// Adds the class Comparison and those of its parts.
inline void bind_comparison(pybind11::module_& module) {
  namespace py = pybind11;
  using validation::Comparison;
  bind_mismatches(module);
  const auto percentiles = [](const Comparison& comparison) {
    py::dict result;
    for (std::size_t i = 0; i < validation::kPercents.size(); ++i) {
      result[py::float_(validation::kPercents[i])] = comparison.percentiles[i];
    }
    return result;
  };
  const auto first_mismatch = [](const Comparison& comparison) {
    return comparison.first.empty() ? py::object(py::none()) : py::cast(comparison.first.front());
  };
  py::class_<Comparison>(module, "Comparison", "How far one tensor is from another.")
      .def_readonly("elements", &Comparison::elements)
      .def_readonly("mismatches", &Comparison::mismatches)
      .def_readonly("nan_in_both", &Comparison::nan_in_both)
      .def_readonly("nan_in_actual", &Comparison::nan_in_actual, "NaN only there.")
      .def_readonly("nan_in_expected", &Comparison::nan_in_expected, "NaN only there.")
      .def_readonly("infinity_in_both", &Comparison::infinity_in_both, "Of one sign.")
      .def_readonly("infinity_in_actual", &Comparison::infinity_in_actual, "Only there, or of another sign.")
      .def_readonly("infinity_in_expected", &Comparison::infinity_in_expected, "Only there, or of another sign.")
      .def_readonly("signed_zeros", &Comparison::signed_zeros, "Pairs of zeros with different signs; they match.")
      .def_readonly("max_abs_error", &Comparison::max_abs_error, "Over pairs without a NaN.")
      .def_readonly("max_rel_error", &Comparison::max_rel_error, "Infinite where only expected is 0.")
      .def_readonly("max_ulp_error", &Comparison::max_ulp_error, "In units of actual's dtype at expected.")
      .def_readonly("mean_abs_error", &Comparison::mean_abs_error, "Over finite errors.")
      .def_property_readonly("percentiles", percentiles, "{percent: estimated absolute error}, within 6 %.")
      .def_readonly("first", &Comparison::first, "The first mismatches, in row-major order.")
      .def_readonly("worst", &Comparison::worst, "The worst mismatches, NaN before all.")
      .def_readonly("greatest_absolute", &Comparison::greatest_absolute, "Of the mismatches without a NaN.")
      .def_readonly("greatest_relative", &Comparison::greatest_relative, "Of the mismatches without a NaN.")
      .def_readonly("blocks", &Comparison::blocks, "Errors by tile block, where a block was given.")
      .def_property_readonly("first_mismatch", first_mismatch, "In row-major order; None where all match.")
      .def_property_readonly("matches", &Comparison::matches);
}

}  // namespace tilegym::bindings
