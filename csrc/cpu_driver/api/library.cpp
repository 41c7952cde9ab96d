#include <algorithm>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "cpu_driver/api/image.h"
#include "cpu_driver/api/module.h"

namespace tilegym::cpu {
namespace {

CUresult load_library(Result<std::shared_ptr<const tile_ir::Module>> image, CUlibrary* out) {
  if (!image.ok()) return fail(CUDA_ERROR_INVALID_IMAGE, image.error().message);
  *out = libraries().insert(std::make_shared<Library>(std::move(image).value()));
  return CUDA_SUCCESS;
}

CUresult load_data(CUlibrary* out, const void* code) {
  TILEGYM_CU_TRY(check_initialized());
  if (out == nullptr || code == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "an argument is null");
  return load_library(read_image(static_cast<const std::byte*>(code)), out);
}

CUresult get_kernel(CUkernel* out, CUlibrary handle, const char* name) {
  TILEGYM_CU_TRY(check_initialized());
  const auto library = libraries().share(handle);
  if (library == nullptr) return fail(CUDA_ERROR_INVALID_HANDLE, "the library handle is not live");
  if (out == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the pointer for the kernel is null");
  CUfunction function = nullptr;
  TILEGYM_CU_TRY(library->image.get_function(name, &function));
  *out = reinterpret_cast<CUkernel>(function);
  return CUDA_SUCCESS;
}

CUresult load_file(CUlibrary* out, const char* path) {
  TILEGYM_CU_TRY(check_initialized());
  if (out == nullptr || path == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "an argument is null");
  if (!std::filesystem::is_regular_file(path)) {
    return fail(CUDA_ERROR_FILE_NOT_FOUND, std::string("there is no file ") + path);
  }
  return load_library(read_image_file(path), out);
}

CUresult find_library(CUlibrary handle, std::shared_ptr<Library>& library) {
  TILEGYM_CU_TRY(check_initialized());
  library = libraries().share(handle);
  return library != nullptr ? CUDA_SUCCESS : fail(CUDA_ERROR_INVALID_HANDLE, "the library handle is not live");
}

/// The library as a module of the current context; the same one at every call.
CUresult get_module(CUmodule* out, CUlibrary handle) {
  std::shared_ptr<Library> library;
  TILEGYM_CU_TRY(find_library(handle, library));
  Context* context = nullptr;
  TILEGYM_CU_TRY(current_context(context));
  if (out == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the pointer for the module is null");
  const auto known = [&] {
    const std::scoped_lock lock(driver_lock());
    const auto found = library->modules.find(context);
    return found == library->modules.end() ? nullptr : found->second;
  };
  if (modules().find(*out = known()) != nullptr) return CUDA_SUCCESS;
  *out = modules().insert(std::make_shared<LoadedModule>(library->image.module(), context));
  const std::scoped_lock lock(driver_lock());
  library->modules[context] = *out;
  return CUDA_SUCCESS;
}

CUresult unload(CUlibrary handle) {
  std::shared_ptr<Library> library;
  TILEGYM_CU_TRY(find_library(handle, library));
  std::map<const Context*, CUmodule> loaded;
  {
    const std::scoped_lock lock(driver_lock());
    loaded.swap(library->modules);
  }
  for (const auto& [context, module] : loaded) modules().erase(module);
  libraries().erase(handle);
  return CUDA_SUCCESS;
}

}  // namespace

LibraryTable& libraries() noexcept {
  static auto& table = *new LibraryTable;
  return table;
}

}  // namespace tilegym::cpu

using namespace tilegym::cpu;

extern "C" {

// The options steer a PTX compiler, which has no part in loading Tile IR.
CUresult CUDAAPI cuLibraryLoadData(CUlibrary* out, const void* code, CUjit_option*, void**, unsigned, CUlibraryOption*,
                                   void**, unsigned) {
  return entry(__func__, [&] { return load_data(out, code); });
}

CUresult CUDAAPI cuLibraryLoadFromFile(CUlibrary* out, const char* path, CUjit_option*, void**, unsigned,
                                       CUlibraryOption*, void**, unsigned) {
  return entry(__func__, [&] { return load_file(out, path); });
}

CUresult CUDAAPI cuLibraryUnload(CUlibrary library) {
  return entry(__func__, [&] { return unload(library); });
}

CUresult CUDAAPI cuLibraryGetModule(CUmodule* out, CUlibrary library) {
  return entry(__func__, [&] { return get_module(out, library); });
}

CUresult CUDAAPI cuLibraryGetKernelCount(unsigned* out, CUlibrary handle) {
  return entry(__func__, [&]() -> CUresult {
    std::shared_ptr<Library> library;
    TILEGYM_CU_TRY(find_library(handle, library));
    return give(out, static_cast<unsigned>(library->image.entries().size()));
  });
}

CUresult CUDAAPI cuLibraryEnumerateKernels(CUkernel* out, unsigned count, CUlibrary handle) {
  return entry(__func__, [&]() -> CUresult {
    std::shared_ptr<Library> library;
    TILEGYM_CU_TRY(find_library(handle, library));
    std::vector<CUfunction> found(out == nullptr ? 0 : std::min<std::size_t>(count, library->image.entries().size()));
    TILEGYM_CU_TRY(library->image.get_functions(found));
    std::transform(found.begin(), found.end(), out, [](CUfunction f) { return reinterpret_cast<CUkernel>(f); });
    return CUDA_SUCCESS;
  });
}

CUresult CUDAAPI cuLibraryGetKernel(CUkernel* out, CUlibrary library, const char* name) {
  return entry(__func__, [&] { return get_kernel(out, library, name); });
}

CUresult CUDAAPI cuKernelGetFunction(CUfunction* out, CUkernel kernel) {
  return entry(__func__, [&]() -> CUresult {
    Function* function = nullptr;
    TILEGYM_CU_TRY(find_function(reinterpret_cast<CUfunction>(kernel), function));
    return give(out, reinterpret_cast<CUfunction>(kernel));
  });
}

}  // extern "C"
