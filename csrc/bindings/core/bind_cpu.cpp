#include <cuda.h>
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings/core/errors.h"
#include "bindings/core/launch_values.h"
#include "bindings/core/main_thread.h"
#include "bindings/core/topics.h"
#include "cpu_driver/api/image.h"
#include "runtime/interrupt.h"
#include "runtime/tile_program.h"
#include "tile_ir/reader.h"

namespace tilegym::bindings {
namespace {

namespace py = pybind11;
using runtime::CpuDevice;
using runtime::LaunchFailure;
using runtime::TileProgram;

struct Entry {
  std::string name;
  std::vector<EntryParameter> parameters;
};

/// A module with what it declares: the driver tells sizes of parameters, not their types.
struct CpuModule {
  TileProgram program;
  std::vector<Entry> entries;
  std::string version;
  std::string producer;
};

template <class T>
T value_or_throw(Result<T> result) {
  if (!result) throw py::value_error(result.error().message);
  return std::move(result).value();
}

/// The bytecode inside an image. A driver gets a bare pointer, so lengths are checked here.
std::span<const std::byte> bytecode_of(std::span<const std::byte> image) {
  cpu::ImageHeader header{};
  if (image.size() < sizeof(header)) return image;
  std::memcpy(&header, image.data(), sizeof(header));
  if (header.magic != cpu::kImageMagic) return image;
  const auto body = image.subspan(sizeof(header));
  if (header.bytecode_size <= body.size()) return body.first(header.bytecode_size);
  throw py::value_error(fmt::format("wrapped image: wanted {} bytes of bytecode, got {}; the file is cut short",
                                    header.bytecode_size, body.size()));
}

std::vector<EntryParameter> parameters_of(const tile_ir::Module& module, const tile_ir::Function& function) {
  std::vector<EntryParameter> parameters;
  for (const tile_ir::TypeId id : module.type(function.type).inputs) {
    const tile_ir::Type& type = module.type(id);
    parameters.push_back({type.element, type.of_pointers});
  }
  return parameters;
}

std::vector<Entry> entries_of(const tile_ir::Module& module) {
  std::vector<Entry> entries;
  for (const tile_ir::Function& function : module.functions) {
    if (function.is_entry) entries.push_back({function.name, parameters_of(module, function)});
  }
  return entries;
}

CpuModule load(const CpuDevice& device, const py::bytes& image) {
  const std::string_view text = image;
  const auto bytes = std::as_bytes(std::span(text));
  const tile_ir::Module module = value_or_throw(tile_ir::read_module(bytecode_of(bytes)));
  return {value_or_throw(TileProgram::load(device, bytes)), entries_of(module),
          fmt::format("{}.{}", module.version.major, module.version.minor), module.producer};
}

const Entry& find_entry(const CpuModule& module, const std::string& name) {
  const auto found = std::find_if(module.entries.begin(), module.entries.end(),
                                  [&](const Entry& entry) { return entry.name == name; });
  if (found != module.entries.end()) return *found;
  std::string names;
  for (const Entry& entry : module.entries) names += (names.empty() ? "" : ", ") + entry.name;
  throw py::value_error(fmt::format("entry: wanted one of {}, got '{}'", names.empty() ? "none" : names, name));
}

LaunchValues values_of(const Entry& entry, const py::sequence& arguments, const std::vector<std::string>& names,
                       const py::sequence& memory) {
  if (arguments.size() != entry.parameters.size()) {
    throw py::value_error(
        fmt::format("{}: wanted {} arguments, got {}", entry.name, entry.parameters.size(), arguments.size()));
  }
  LaunchValues values;
  for (std::size_t i = 0; i < entry.parameters.size(); ++i) {
    values.add(entry.parameters[i], arguments[i], i < names.size() ? names[i] : fmt::format("args[{}]", i));
  }
  for (std::size_t i = 0; i < memory.size(); ++i) values.add_memory(memory[i], fmt::format("memory[{}]", i));
  return values;
}

LaunchFailure run(const CpuModule& module, const std::string& entry, const runtime::LaunchSettings& settings,
                  const LaunchValues& values) {
  std::optional<runtime::InterruptGuard> guard;
  if (is_main_thread()) guard.emplace(module.program.watch_function());
  const py::gil_scoped_release unlocked;
  return module.program.launch(entry, settings, values.arguments(), values.memory());
}

[[noreturn]] void throw_failure(const LaunchFailure& failure) {
  if (failure.code == CUDA_ERROR_INVALID_VALUE) throw py::value_error(failure.text);
  if (failure.code == CUDA_ERROR_LAUNCH_FAILED) {
    // Python's own handler comes first: it may raise something of its own for the signal that cancelled the launch.
    if (PyErr_CheckSignals() == 0) PyErr_SetString(PyExc_KeyboardInterrupt, failure.text.c_str());
    throw py::error_already_set();
  }
  throw_kernel_error(failure.text);
}

void launch(const CpuModule& module, const std::string& name, const std::array<std::uint32_t, 3>& grid,
            const py::sequence& arguments, const std::vector<std::string>& names, const py::sequence& memory,
            std::uint32_t order, std::uint64_t seed, std::uint32_t threads) {
  const Entry& entry = find_entry(module, name);
  const LaunchValues values = values_of(entry, arguments, names, memory);
  const LaunchFailure failure = run(module, name, {grid, {order, threads, seed}}, values);
  if (failure.code != CUDA_SUCCESS) throw_failure(failure);
}

/// [(entry, [parameter type, ...]), ...]
std::vector<std::pair<std::string, std::vector<std::string>>> described(const CpuModule& module) {
  std::vector<std::pair<std::string, std::vector<std::string>>> rows;
  for (const Entry& entry : module.entries) {
    auto& types = rows.emplace_back(entry.name, std::vector<std::string>()).second;
    for (const EntryParameter& parameter : entry.parameters) types.push_back(parameter.type_text());
  }
  return rows;
}

void prepare(const CpuModule& module, const std::string& name) {
  const Entry& entry = find_entry(module, name);
  Status status;
  {
    const py::gil_scoped_release unlocked;
    status = module.program.prepare(entry.name);
  }
  if (!status) throw_kernel_error(status.error().message);
}

}  // namespace

void bind_cpu(py::module_& module) {
  py::class_<CpuModule>(module, "CpuModule", "A Tile IR module loaded on the CPU device; see tilegym_rs.cpu.")
      .def(py::init(&load), py::arg("device"), py::arg("image"))
      .def_property_readonly("entries", described)
      .def_readonly("version", &CpuModule::version)
      .def_readonly("producer", &CpuModule::producer)
      .def("prepare", prepare, py::arg("entry"))
      .def("launch", launch, py::arg("entry"), py::arg("grid"), py::arg("arguments"), py::arg("names"),
           py::arg("memory"), py::arg("order"), py::arg("seed"), py::arg("threads"));
}

}  // namespace tilegym::bindings
