#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bindings/core/errors.h"
#include "bindings/core/main_thread.h"
#include "bindings/core/topics.h"
#include "runtime/assembly.h"
#include "runtime/image_cache.h"
#include "runtime/image_cache_counters.h"
#include "runtime/tileiras.h"

namespace tilegym::bindings {
namespace {

namespace py = pybind11;
using runtime::CacheContents;
using runtime::CacheCounts;
using runtime::CacheEntry;
using runtime::CacheEvent;
using runtime::Tileiras;

py::dict named(const CacheCounts& counts) {
  py::dict result;
  for (std::size_t event = 0; event < runtime::kCacheEvents; ++event) {
    result[py::str(std::string(runtime::name_of(static_cast<CacheEvent>(event))))] = counts[event];
  }
  return result;
}

py::dict totals() {
  const std::filesystem::path written = runtime::cache_contents().written;
  return named(written.empty() ? CacheCounts{} : runtime::cache_totals(written));
}

CacheEntry decode(const py::bytes& bytes) {
  auto entry = runtime::decode_entry(bytes.cast<std::string_view>());
  if (!entry) throw py::value_error(entry.error().message);
  return std::move(entry).value();
}

void import_entry(const CacheEntry& entry) {
  const auto name = [&] {
    const py::gil_scoped_release unlocked;
    return runtime::import_entry(runtime::encode_entry(entry));
  }();
  if (!name) throw_build_error(name.error().message);
}

CacheEntry make_entry(const std::string& key, const std::string& kind, const std::string& description,
                      const py::bytes& payload) {
  CacheEntry entry{runtime::entry_name(key, kind), description, std::string(payload)};
  if (!runtime::is_entry_name(entry.name)) {
    throw py::value_error("cache entry: kind: wanted lower-case letters, digits and dots, got '" + kind + "'");
  }
  return entry;
}

std::optional<py::bytes> find_entry(const std::string& name) {
  const auto payload = [&] {
    const py::gil_scoped_release unlocked;
    return runtime::is_entry_name(name) ? runtime::find_image(name) : std::nullopt;
  }();
  return payload ? std::optional(py::bytes(*payload)) : std::nullopt;
}

CacheEntry assemble_entry(const CacheEntry& bytecode) {
  auto entry = [&] {
    const py::gil_scoped_release unlocked;
    return runtime::assemble_entry(bytecode);
  }();
  if (PyErr_Occurred() != nullptr) throw py::error_already_set();
  if (!entry) throw_kernel_error(entry.error().message);
  return std::move(entry).value();
}

Tileiras find_tileiras() {
  auto found = [] {
    const py::gil_scoped_release unlocked;
    return runtime::find_tileiras();
  }();
  if (!found) throw_kernel_error(found.error().message);
  return std::move(found).value();
}

/// Lets Ctrl-C end a compiler that the main thread waits for; the exception stays set until Python is back in charge.
bool no_interrupt() {
  if (!is_main_thread()) return true;
  const py::gil_scoped_acquire locked;
  return PyErr_Occurred() == nullptr && PyErr_CheckSignals() == 0;
}

void bind_entries(py::module_& module) {
  py::class_<CacheEntry>(module, "CacheEntry", "One compiled kernel or tuning record, as the cache keeps it.")
      .def(py::init(&make_entry), py::arg("key"), py::arg("kind"), py::arg("description"), py::arg("payload"))
      .def_readonly("name", &CacheEntry::name, "Its place below a cache folder's images.")
      .def_readonly("description", &CacheEntry::description, "Lines of text that say what it was made from.")
      .def_property_readonly("payload", [](const CacheEntry& entry) { return py::bytes(entry.payload); })
      .def("encode", [](const CacheEntry& entry) { return py::bytes(runtime::encode_entry(entry)); })
      .def_static("decode", decode, py::arg("bytes"), "Raises ValueError for bytes that are no good entry.");
  module.def("all_cache_entries", runtime::all_entries, py::arg("suffix") = "",
             py::call_guard<py::gil_scoped_release>(),
             "The good entries of all folders that are read whose names end with `suffix`.");
  module.def("cache_entries_in", runtime::entries_in, py::arg("folder"), py::arg("suffix") = "",
             py::call_guard<py::gil_scoped_release>(), "The good entries of one folder of entries.");
  module.def("find_cache_entry", find_entry, py::arg("name"),
             "Payload of an entry, or None; a broken or untrusted one counts as none.");
  module.def("store_cache_entry", runtime::store_image, py::arg("entry"), py::call_guard<py::gil_scoped_release>(),
             "Stores an entry; one that cannot be written is counted and said once.");
  module.def("remove_cache_entry", runtime::remove_entry, py::arg("name"),
             "Removes an entry from the folder that is written; False where there is none.");
  module.def("import_cache_entry", import_entry, py::arg("entry"), "Stores an entry. Raises BuildError.");
  module.def("assemble_cache_entry", assemble_entry, py::arg("bytecode"),
             "A GPU's image for an image of the CPU device, under the same key. Raises KernelError.");
}

}  // namespace

void bind_cache(py::module_& module) {
  runtime::set_assembly_poll(no_interrupt);
  bind_entries(module);
  py::class_<CacheContents>(module, "CacheContents", "What lies in the cache of compiled kernels.")
      .def_readonly("folders", &CacheContents::folders, "Read in this order.")
      .def_readonly("written", &CacheContents::written, "Where entries are stored; empty where the cache is off.")
      .def_readonly("entries", &CacheContents::entries)
      .def_readonly("bytes", &CacheContents::bytes);
  module.def("cache_contents", runtime::cache_contents);
  module.def("cache_counts", [] { return named(runtime::cache_counts()); }, "Events in this process, by name.");
  module.def("cache_totals", totals, "Events in all processes that have ended, by name.");
  module.def("clear_cache", runtime::clear_cache, "Removes every compiled kernel; returns how many files.");
  py::class_<Tileiras>(module, "Tileiras", "The compiler from Tile IR bytecode to cubins.")
      .def_readonly("path", &Tileiras::path)
      .def_readonly("version", &Tileiras::version)
      .def_readonly("identity", &Tileiras::identity);
  module.def("find_tileiras", find_tileiras, "The compiler in force. Raises KernelError where there is none.");
  module.def("add_tileiras_folder", runtime::add_tileiras_folder, py::arg("folder"),
             "Adds a folder to look into before PATH.");
}

}  // namespace tilegym::bindings
