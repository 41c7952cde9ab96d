#include <memory>
#include <utility>

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

CUresult CUDAAPI cuLibraryUnload(CUlibrary library) {
  return entry(__func__, [&]() -> CUresult {
    TILEGYM_CU_TRY(check_initialized());
    return libraries().erase(library) != nullptr ? CUDA_SUCCESS
                                                 : fail(CUDA_ERROR_INVALID_HANDLE, "the library handle is not live");
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
