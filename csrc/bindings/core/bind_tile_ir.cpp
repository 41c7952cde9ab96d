#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <array>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/core/topics.h"
#include "tile_ir/diff.h"
#include "tile_ir/facts.h"
#include "tile_ir/printer.h"
#include "tile_ir/reader.h"
#include "tile_ir/stats.h"
#include "tile_ir/verify.h"
#include "tile_ir/writer.h"

namespace tilegym::bindings {
namespace {

namespace py = pybind11;
namespace ir = tile_ir;

using Release = py::call_guard<py::gil_scoped_release>;

/// A module never changes once it is read, so threads may share it.
struct TileModule {
  ir::Module module;
};

struct UnknownOperation {
  std::string entry;
  std::uint64_t code;
  std::size_t byte_offset;
  std::string bytes;
  std::string reason;
};

/// Texts are UTF-8 but for what a file holds against the rules.
py::str as_text(std::string_view text) {
  PyObject* object = PyUnicode_DecodeUTF8(text.data(), static_cast<py::ssize_t>(text.size()), "surrogateescape");
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::str>(object);
}

/// The same of all texts in a value's lists, sets and maps.
py::object as_object(const std::string& text) {
  return as_text(text);
}

template <std::integral T>
py::object as_object(T number) {
  return py::int_(number);
}

template <class T>
py::object as_object(const std::set<T>& values) {
  py::set out;
  for (const T& value : values) out.add(as_object(value));
  return out;
}

template <class T>
py::object as_object(const std::vector<T>& values) {
  py::list out;
  for (const T& value : values) out.append(as_object(value));
  return out;
}

template <class T>
py::object as_object(const std::map<std::string, T>& values) {
  py::dict out;
  for (const auto& [key, value] : values) out[as_text(key)] = as_object(value);
  return out;
}

/// A property that reads a member.
template <class Owner, class T>
auto reads(T Owner::* member) {
  return [member](const Owner& owner) { return as_object(owner.*member); };
}

/// May be called without the lock.
[[noreturn]] void throw_value_error(std::string_view text) {
  const py::gil_scoped_acquire lock;
  PyErr_SetObject(PyExc_ValueError, as_text(text).ptr());
  throw py::error_already_set();
}

template <class T>
T value_or_throw(Result<T> result) {
  if (!result) throw_value_error(result.error().message);
  return std::move(result).value();
}

std::unique_ptr<TileModule> load(const std::filesystem::path& path, bool keep_unknown) {
  return std::make_unique<TileModule>(value_or_throw(ir::read_file(path, {.keep_unknown = keep_unknown})));
}

std::unique_ptr<TileModule> parse(const py::bytes& bytecode, bool keep_unknown) {
  const std::string_view bytes = bytecode;
  const py::gil_scoped_release release;
  return std::make_unique<TileModule>(
      value_or_throw(ir::read_module(std::as_bytes(std::span(bytes)), {.keep_unknown = keep_unknown})));
}

py::str text(const TileModule& self, bool locations) {
  std::string printed;
  {
    const py::gil_scoped_release release;
    printed = ir::print_module(self.module, {.locations = locations});
  }
  return as_text(printed);
}

py::bytes bytecode(const TileModule& self) {
  const std::vector<std::byte> bytes = value_or_throw(ir::write_module(self.module));
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_whole(const ir::Module& module) {
  for (const ir::Function& function : module.functions) {
    if (function.unread) return false;
  }
  return true;
}

std::vector<ir::Diagnostic> verify(const TileModule& self, std::size_t limit, bool hints) {
  if (limit < 1) throw py::value_error("limit: wanted at least 1, got 0");
  if (!is_whole(self.module)) {
    throw py::value_error("module: wanted one that was read to its end, got one with unknown operations");
  }
  return ir::verify(self.module, {.limit = limit, .hints = hints});
}

std::vector<py::str> entries(const TileModule& self) {
  std::vector<py::str> names;
  for (const ir::Function& function : self.module.functions) names.push_back(as_text(function.name));
  return names;
}

std::vector<UnknownOperation> unknown_operations(const TileModule& self) {
  std::vector<UnknownOperation> found;
  for (const ir::Function& function : self.module.functions) {
    if (!function.unread) continue;
    const auto& [code, offset, bytes, reason] = *function.unread;
    found.push_back({function.name, code, offset, {reinterpret_cast<const char*>(bytes.data()), bytes.size()}, reason});
  }
  return found;
}

const ir::Function& find_entry(const ir::Module& module, const std::optional<std::string>& name) {
  if (!name && module.functions.size() == 1) return module.functions.front();
  const ir::Function* function = name ? module.find(*name) : nullptr;
  if (function != nullptr) return *function;
  std::string names;
  for (const ir::Function& other : module.functions) names += (names.empty() ? "" : ", ") + other.name;
  throw_value_error("entry: wanted one of " + (names.empty() ? "none" : names) + ", got " +
                    (name ? "'" + *name + "'" : "none named") + "; name an entry of the module");
}

ir::Stats stats(const TileModule& self, const std::array<std::int64_t, 3>& grid,
                const std::vector<std::optional<std::int64_t>>& arguments, const std::optional<std::string>& entry) {
  const ir::Function& function = find_entry(self.module, entry);
  if (arguments.size() > function.body.arguments.size()) {
    throw py::value_error("arguments: wanted at most " + std::to_string(function.body.arguments.size()) + ", got " +
                          std::to_string(arguments.size()));
  }
  const py::gil_scoped_release release;
  return value_or_throw(ir::launch_stats(self.module, function, {grid, arguments}));
}

py::str kind_name(const ir::Change& change) {
  static constexpr std::array<const char*, 3> kNames = {"added", "removed", "changed"};
  return kNames[static_cast<std::size_t>(change.kind)];
}

std::vector<ir::Change> diff(const TileModule& before, const TileModule& after) {
  return ir::diff_modules(before.module, after.module);
}

void bind_results(py::module_& module) {
  py::class_<ir::Change>(module, "TileChange", "One difference between two modules.")
      .def_property_readonly("kind", kind_name)
      .def_property_readonly("place", [](const ir::Change& change) { return as_text(change.place); })
      .def_property_readonly("subject", reads(&ir::Change::subject))
      .def_property_readonly("part", reads(&ir::Change::property))
      .def_property_readonly("before", [](const ir::Change& change) { return as_text(change.before); })
      .def_property_readonly("after", [](const ir::Change& change) { return as_text(change.after); });

  py::class_<ir::Diagnostic>(module, "TileDiagnostic", "One rule of the dialect that a module breaks.")
      .def_readonly("operation", &ir::Diagnostic::operation)
      .def_property_readonly("symbol", [](const ir::Diagnostic& found) { return as_text(found.symbol); })
      .def_readonly("byte_offset", &ir::Diagnostic::byte_offset)
      .def("__str__", [](const ir::Diagnostic& found) { return as_text(found.text()); });

  py::class_<ir::Stats>(module, "TileStats", "What one launch does, over all tile blocks.")
      .def_property_readonly("operations", reads(&ir::Stats::operations))
      .def_property_readonly("executed", reads(&ir::Stats::executed))
      .def_property_readonly("flops", reads(&ir::Stats::flops))
      .def_property_readonly("matrix_flops", reads(&ir::Stats::matrix_flops))
      .def_readonly("bytes_read", &ir::Stats::bytes_read)
      .def_readonly("bytes_written", &ir::Stats::bytes_written)
      .def_property_readonly("notes", reads(&ir::Stats::notes));

  py::class_<UnknownOperation>(module, "TileUnknownOperation", "An operation at which reading an entry stopped.")
      .def_property_readonly("entry", [](const UnknownOperation& found) { return as_text(found.entry); })
      .def_readonly("code", &UnknownOperation::code)
      .def_readonly("byte_offset", &UnknownOperation::byte_offset)
      .def_property_readonly("raw", [](const UnknownOperation& found) { return py::bytes(found.bytes); })
      .def_property_readonly("reason", reads(&UnknownOperation::reason));
}

void bind_facts(py::module_& module) {
  py::class_<ir::Facts>(module, "TileFacts", "What decides how fast and how exact a module's kernels are.")
      .def_property_readonly("entries", reads(&ir::Facts::entries))
      .def_property_readonly("operations", reads(&ir::Facts::operations))
      .def_property_readonly("flush_to_zero", reads(&ir::Facts::flush_to_zero))
      .def_property_readonly("rounding", reads(&ir::Facts::rounding))
      .def_property_readonly("entry_hints", reads(&ir::Facts::entry_hints))
      .def_property_readonly("access_hints", reads(&ir::Facts::access_hints))
      .def_property_readonly("row_tiles", reads(&ir::Facts::row_tiles))
      .def_property_readonly("accumulators", reads(&ir::Facts::accumulators))
      .def_property_readonly("identities", reads(&ir::Facts::identities))
      .def_property_readonly("elements", reads(&ir::Facts::elements))
      .def_readonly("pointer_div_by", &ir::Facts::pointer_div_by)
      .def_readonly("scalar_div_by", &ir::Facts::scalar_div_by)
      .def_readonly("swizzled", &ir::Facts::swizzled)
      .def_property_readonly("layouts", reads(&ir::Facts::layouts));
}

}  // namespace

void bind_tile_ir(py::module_& module) {
  bind_results(module);
  bind_facts(module);
  py::class_<TileModule>(module, "TileModule", "A Tile IR module that was read from bytecode.")
      .def_static("load", load, py::arg("path"), py::kw_only(), py::arg("keep_unknown") = false, Release())
      .def_static("parse", parse, py::arg("bytecode"), py::kw_only(), py::arg("keep_unknown") = false)
      .def_property_readonly("version",
                             [](const TileModule& self) {
                               return std::to_string(self.module.version.major) + "." +
                                      std::to_string(self.module.version.minor);
                             })
      .def_property_readonly("producer", [](const TileModule& self) { return as_text(self.module.producer); })
      .def_property_readonly("entries", entries)
      .def_property_readonly("unknown_operations", unknown_operations)
      .def("text", text, py::kw_only(), py::arg("locations") = false)
      .def("bytecode", bytecode)
      .def("verify", verify, py::kw_only(), py::arg("limit") = 100, py::arg("hints") = false, Release())
      .def("diff", diff, py::arg("after"), Release())
      .def("facts", [](const TileModule& self) { return ir::gather_facts(self.module); })
      .def("stats", stats, py::kw_only(), py::arg("grid"), py::arg("arguments"), py::arg("entry"));
}

}  // namespace tilegym::bindings
