#include <fmt/format.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <string>
#include <vector>

#include "bindings/core/errors.h"
#include "bindings/core/main_thread.h"
#include "bindings/core/op_object.h"
#include "bindings/core/plan_cache.h"
#include "bindings/core/planned_op.h"
#include "bindings/core/topics.h"
#include "bindings/core/torch_module.h"
#include "runtime/dtype.h"
#include "runtime/host_table.h"
#include "runtime/kernel_library.h"
#include "runtime/manifest.h"

namespace tilegym::bindings {
namespace {

namespace py = pybind11;
using runtime::Counters;
using runtime::KernelLibrary;
using runtime::OpRow;
using runtime::ParamKind;
using runtime::ParamRow;
using LibraryPointer = std::shared_ptr<KernelLibrary>;

LibraryPointer load(const std::filesystem::path& path, const std::filesystem::path& stand_in,
                    const std::string& fingerprint) {
  auto library = [&] {
    const py::gil_scoped_release unlocked;
    return KernelLibrary::load(path.string(), stand_in.string(), runtime::host_table(), fingerprint);
  }();
  if (!library) throw_kernel_error(library.error().message);
  forget_plans();  // they launch through the library they were made with
  return std::move(library).value();
}

std::vector<std::string> op_names(const KernelLibrary& library) {
  std::vector<std::string> names;
  for (const OpRow& op : runtime::ops_of(library.manifest())) names.emplace_back(op.name);
  return names;
}

py::object find_op(const LibraryPointer& taken, const std::string& name) {
  const LibraryPointer library = KernelLibrary::newest(taken);
  const auto op = library->find(name);
  if (!op) throw py::attribute_error(op.error().message);
  return make_op_object(library, *op.value());
}

/// Called for names that are not attributes yet; the op is kept as one, so that later calls find it at once.
py::object attribute(const py::object& self, const std::string& name) {
  py::object op = find_op(self.cast<LibraryPointer>(), name);
  self.attr("__dict__")[py::str(name)] = op;
  return op;
}

const char* kind_name(ParamKind kind) {
  static constexpr const char* kNames[] = {"tensor", "i32", "i64", "f32", "device", "stream"};
  return kNames[static_cast<std::size_t>(kind)];
}

const char* direction_name(runtime::Direction direction) {
  static constexpr const char* kNames[] = {"in", "out", "inout"};
  return kNames[static_cast<std::size_t>(direction)];
}

py::list dtype_names(std::uint32_t mask) {
  py::list names;
  for (int code = 0; code < 32; ++code) {
    if ((mask >> code & 1U) != 0) names.append(runtime::dtype_name(static_cast<runtime::DType>(code)));
  }
  return names;
}

py::object default_value(const ParamRow& param) {
  if (param.has_default == 0) return py::none();
  if (param.kind == ParamKind::f32) return py::float_(param.default_value.floating);
  return py::int_(param.default_value.integer);
}

std::string text_or_empty(const char* text) {
  return text == nullptr ? "" : text;
}

py::dict describe_param(const ParamRow& param) {
  py::dict row;
  row["name"] = param.name;
  row["kind"] = kind_name(param.kind);
  row["doc"] = text_or_empty(param.doc);
  row["default"] = default_value(param);
  if (param.kind != ParamKind::tensor) return row;
  row["direction"] = direction_name(param.direction);
  row["rank"] = param.rank < 0 ? py::object(py::none()) : py::int_(param.rank);
  row["dtypes"] = dtype_names(param.dtypes);
  return row;
}

py::dict describe(const KernelLibrary& library, const std::string& name) {
  const auto op = library.find(name);
  if (!op) throw py::key_error(op.error().message);
  const OpRow& row = *op.value();
  py::list params;
  for (const ParamRow& param : runtime::params_of(row)) params.append(describe_param(param));
  py::dict description;
  description["name"] = row.name;
  description["doc"] = text_or_empty(row.doc);
  description["signature"] = runtime::signature_text(row);
  description["params"] = params;
  description["entries"] = std::vector<std::string>(row.entries, row.entries + row.entry_count);
  return description;
}

void replace_library(const LibraryPointer& old, const LibraryPointer& fresh) {
  if (KernelLibrary::newest(fresh) == KernelLibrary::newest(old)) return;
  KernelLibrary::newest(old)->set_successor(fresh);
  rebind_ops();
  forget_plans();
}

void bind_counters(py::module_& module) {
  py::class_<Counters>(module, "Counters", "What a kernel library has done since it was loaded.")
      .def(py::init([] { return Counters{}; }))
      .def_readonly("launches", &Counters::launches)
      .def_readonly("compiles", &Counters::compiles)
      .def_readonly("compile_nanoseconds", &Counters::compile_nanoseconds)
      .def("__repr__", [](const Counters& counters) {
        return fmt::format("Counters(launches={}, compiles={}, compile_nanoseconds={})", counters.launches,
                           counters.compiles, counters.compile_nanoseconds);
      });
}

}  // namespace

void bind_library(py::module_& module) {
  remember_main_thread();
  bind_counters(module);
  module.attr("Op") = op_type();
  module.attr("PlannedOp") = planned_op_type();
  module.def("forget_plans", forget_plans, "Makes planned ops ask their planners again.");
  module.def(
      "use_torch_bridge",
      [](bool wanted) {
        use_torch_bridge(wanted);
        return torch_bridge() != nullptr;
      },
      py::arg("wanted"),
      "Whether planned ops call libtorch directly rather than through Python; returns whether they do. Needs the "
      "module "
      "built for the running torch.");
  module.def("replace_library", replace_library, py::arg("old"), py::arg("fresh"),
             "Gives the place of a library to another: ops and libraries that callers hold go to that.");
  py::class_<KernelLibrary, LibraryPointer>(module, "KernelLibrary", py::dynamic_attr(),
                                            "A loaded libcutile_kernels.so; each of its ops is an attribute.")
      .def(
          py::init(&load), py::arg("path"), py::arg("stand_in_path"), py::arg("source_fingerprint") = "",
          "Loads a kernel library and binds its CPU device to a stand-in driver. Raises KernelError for a file that is "
          "none of this version, or not made from the sources of that fingerprint (\"\": any).")
      .def("__getattr__", attribute)
      .def("op", find_op, py::arg("name"), "The op of that name, also where an attribute of the class hides it.")
      .def("__dir__",
           [](const py::object& self) {
             py::list names = py::module_::import("builtins").attr("object").attr("__dir__")(self);
             for (const std::string& op : op_names(self.cast<const KernelLibrary&>())) names.append(op);
             return names;
           })
      .def_property_readonly("ops", op_names, "Names of the ops.")
      .def_property_readonly("path", &KernelLibrary::path)
      .def_property_readonly("cpu_device", &KernelLibrary::cpu_device, py::return_value_policy::reference_internal)
      .def_property_readonly(
          "source_fingerprint",
          [](const KernelLibrary& library) { return text_or_empty(library.manifest().source_fingerprint); })
      .def_property_readonly(
          "cutile_version",
          [](const KernelLibrary& library) { return text_or_empty(library.manifest().cutile_version); })
      .def("describe", describe, py::arg("op"), "Name, doc, signature, parameters and kernel entries of an op.")
      .def("counters", &KernelLibrary::counters)
      .def("last_error", &KernelLibrary::last_error, "Text of the calling thread's last failed call.");
}

}  // namespace tilegym::bindings
