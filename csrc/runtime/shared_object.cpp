#include "runtime/shared_object.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "runtime/trust.h"

namespace tilegym::runtime {
namespace {

std::string loader_error() {
  const char* text = dlerror();
  return text == nullptr ? "no reason given" : text;
}

}  // namespace

void LibraryCloser::operator()(void* handle) const noexcept {
  if (!kept) dlclose(handle);
}

Result<SharedObject> SharedObject::open(std::string what, const std::string& path) {
  // A bare file name would send dlopen through the library search path.
  std::error_code failure;
  const std::string file = std::filesystem::absolute(path, failure).string();
  if (path.empty() || !std::filesystem::is_regular_file(file, failure)) {
    return Error{fmt::format("{}: wanted a shared library at '{}', found no file there; build it or correct the path",
                             what, path)};
  }
  TILEGYM_TRY(check_trusted_file(what, file));
  void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return Error{fmt::format("{}: wanted a shared library at '{}', the loader refused it: {}; rebuild it", what, file,
                             loader_error())};
  }
  return SharedObject(std::move(what), file, handle);
}

Result<void*> SharedObject::find(const char* name) const {
  if (void* address = dlsym(handle_.get(), name); address != nullptr) return address;
  return Error{fmt::format("{}: wanted the symbol {} in '{}', found none; rebuild it from the sources of this version",
                           what_, name, path_)};
}

}  // namespace tilegym::runtime
