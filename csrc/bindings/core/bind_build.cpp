#include <pybind11/functional.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bindings/core/errors.h"
#include "bindings/core/topics.h"
#include "runtime/autobuild.h"
#include "runtime/cache_folder.h"
#include "runtime/fingerprint.h"

namespace tilegym::bindings {
namespace {

namespace py = pybind11;
using Folders = std::vector<std::filesystem::path>;

/// Lets Python act on signals; false where one of them raised, with the exception left set.
bool no_signal_raised() {
  const py::gil_scoped_acquire locked;
  return PyErr_CheckSignals() == 0;
}

runtime::LibraryFile ensure_library(const std::filesystem::path& crate, const std::filesystem::path& prebuilt,
                                    const Folders& cuda, const Folders& libclang, bool always_build) {
  const runtime::BuildRequest request{crate, prebuilt, {cuda, libclang}, always_build, no_signal_raised};
  auto library = [&] {
    const py::gil_scoped_release unlocked;
    return runtime::ensure_library(request);
  }();
  if (PyErr_Occurred() != nullptr) {
    throw py::error_already_set();
  }
  if (!library) {
    throw_build_error(library.error().message);
  }
  return std::move(library).value();
}

std::optional<runtime::LibraryFile> find_library(const std::filesystem::path& crate,
                                                 const std::filesystem::path& prebuilt) {
  auto library = [&] {
    const py::gil_scoped_release unlocked;
    return runtime::find_library({crate, prebuilt, {}});
  }();
  if (!library) {
    throw_build_error(library.error().message);
  }
  return std::move(library).value();
}

Folders cache_folders() {
  auto folders = runtime::cache_folders();
  if (!folders) {
    throw_build_error(folders.error().message);
  }
  return std::move(folders).value();
}

runtime::Toolchain find_toolchain(const Folders& cuda, const Folders& libclang) {
  const std::filesystem::path cache = cache_folders().back();
  const py::gil_scoped_release unlocked;
  return runtime::find_toolchain(cache, {cuda, libclang});
}

std::string source_fingerprint(const std::filesystem::path& crate) {
  auto fingerprint = runtime::source_fingerprint(crate);
  if (!fingerprint) {
    throw_build_error(fingerprint.error().message);
  }
  return std::move(fingerprint).value();
}

Folders source_files(const std::filesystem::path& crate) {
  auto files = runtime::source_files(crate);
  if (!files) {
    throw_build_error(files.error().message);
  }
  return std::move(files).value();
}

void bind_toolchain(py::module_& module) {
  py::class_<runtime::ToolCheck>(module, "ToolCheck", "One part that a build of the kernel library needs.")
      .def_readonly("name", &runtime::ToolCheck::name)
      .def_readonly("found", &runtime::ToolCheck::found)
      .def_readonly("text", &runtime::ToolCheck::text);
  py::class_<runtime::Toolchain>(module, "Toolchain", "What a build of the kernel library found on this machine.")
      .def_readonly("checks", &runtime::Toolchain::checks)
      .def_readonly("environment", &runtime::Toolchain::environment);
  module.def("find_toolchain", find_toolchain, py::arg("cuda_folders"), py::arg("libclang_folders"),
             "Looks for everything that a build of the kernel library needs.");
}

}  // namespace

void bind_build(py::module_& module) {
  bind_toolchain(module);
  py::class_<runtime::LibraryFile>(module, "LibraryFile", "A kernel library that is ready to be loaded.")
      .def_readonly("path", &runtime::LibraryFile::path)
      .def_readonly("source_fingerprint", &runtime::LibraryFile::source_fingerprint)
      .def_readonly("built", &runtime::LibraryFile::built);
  module.def("ensure_library", ensure_library, py::arg("crate"), py::arg("prebuilt"), py::arg("cuda_folders"),
             py::arg("libclang_folders"), py::arg("always_build") = false,
             "Finds the kernel library of the sources as they are, or builds it. Raises BuildError.");
  module.def("find_library", find_library, py::arg("crate"), py::arg("prebuilt"),
             "The kernel library of the sources as they are, or None where it would have to be built.");
  module.def("cache_folders", cache_folders, "Folders of the cache; the last one is written to.");
  module.def("source_files", source_files, py::arg("crate"), "Files that decide what a crate builds to.");
  module.def("source_fingerprint", source_fingerprint, py::arg("crate"), "Fingerprint of a crate's sources.");
}

}  // namespace tilegym::bindings
