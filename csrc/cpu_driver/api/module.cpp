#include "cpu_driver/api/module.h"

#include <algorithm>
#include <mutex>
#include <span>
#include <utility>

#include "cpu_driver/api/image.h"

namespace tilegym::cpu {
namespace {

CUresult load(Result<std::shared_ptr<const tile_ir::Module>> image, CUresult failure, CUmodule* out,
              const Context& context) {
  if (!image.ok()) return fail(failure, image.error().message);
  *out = modules().insert(std::make_shared<LoadedModule>(std::move(image).value(), &context));
  return CUDA_SUCCESS;
}

CUresult load_data(CUmodule* out, const void* data) {
  Context* context = nullptr;
  TILEGYM_CU_TRY(current_context(context));
  if (out == nullptr || data == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "an argument is null");
  return load(read_image(static_cast<const std::byte*>(data)), CUDA_ERROR_INVALID_IMAGE, out, *context);
}

CUresult load_file(CUmodule* out, const char* path) {
  Context* context = nullptr;
  TILEGYM_CU_TRY(current_context(context));
  if (out == nullptr || path == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "an argument is null");
  if (!std::filesystem::is_regular_file(path)) {
    return fail(CUDA_ERROR_FILE_NOT_FOUND, std::string("there is no file ") + path);
  }
  return load(read_image_file(path), CUDA_ERROR_INVALID_IMAGE, out, *context);
}

CUresult unload(CUmodule handle) {
  TILEGYM_CU_TRY(check_initialized());
  return modules().erase(handle) != nullptr ? CUDA_SUCCESS
                                            : fail(CUDA_ERROR_INVALID_HANDLE, "the module handle is not live");
}

CUresult find_module(CUmodule handle, std::shared_ptr<LoadedModule>& module) {
  TILEGYM_CU_TRY(check_initialized());
  module = modules().share(handle);
  return module != nullptr ? CUDA_SUCCESS : fail(CUDA_ERROR_INVALID_HANDLE, "the module handle is not live");
}

}  // namespace

Image::~Image() {
  for (const auto& [name, handle] : functions_) functions().erase(handle);
}

std::vector<const char*> Image::entries() const {
  std::vector<const char*> names;
  for (const tile_ir::Function& function : module_->functions) {
    if (function.is_entry) names.push_back(function.name.c_str());
  }
  return names;
}

std::string Image::entry_names() const {
  std::string names;
  for (const char* name : entries()) names.append(names.empty() ? "" : ", ").append(name);
  return names.empty() ? "no entry" : names;
}

CUresult Image::globals(std::shared_ptr<const GlobalMemory>& out) {
  const std::scoped_lock lock(driver_lock());
  if (globals_ == nullptr) {
    auto allocated = allocate_globals(*module_);
    if (!allocated.ok()) return fail(CUDA_ERROR_INVALID_IMAGE, allocated.error().message);
    globals_ = std::move(allocated).value();
  }
  out = globals_;
  return CUDA_SUCCESS;
}

CUresult Image::lower(const char* name, std::shared_ptr<Function>& function) {
  const tile_ir::Function* entry_function = module_->find(name);
  if (entry_function == nullptr || !entry_function->is_entry) {
    return fail(CUDA_ERROR_NOT_FOUND, "wanted entry '" + std::string(name) + "', the module has " + entry_names());
  }
  std::shared_ptr<const GlobalMemory> memory;
  if (!module_->globals.empty()) TILEGYM_CU_TRY(globals(memory));
  auto lowered = lower_kernel(module_, *entry_function, std::move(memory));
  if (!lowered.ok()) return fail(CUDA_ERROR_NOT_SUPPORTED, lowered.error().message);
  function = std::make_shared<Function>(std::move(lowered).value(), context_);
  return CUDA_SUCCESS;
}

CUresult Image::get_function(const char* name, CUfunction* out) {
  if (out == nullptr || name == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "an argument is null");
  const auto known = [&] {
    const std::scoped_lock lock(driver_lock());
    const auto found = functions_.find(name);
    return found == functions_.end() ? nullptr : found->second;
  };
  if ((*out = known()) != nullptr) return CUDA_SUCCESS;
  // Lowering takes long and must not hold the lock; of two threads that lower at once, the first one's result stays.
  std::shared_ptr<Function> function;
  TILEGYM_CU_TRY(lower(name, function));
  const CUfunction handle = functions().insert(std::move(function));
  {
    const std::scoped_lock lock(driver_lock());
    *out = functions_.emplace(name, handle).first->second;
  }
  if (*out != handle) functions().erase(handle);
  return CUDA_SUCCESS;
}

CUresult Image::get_functions(std::span<CUfunction> out) {
  const auto names = entries();
  for (std::size_t i = 0; i < std::min(out.size(), names.size()); ++i) TILEGYM_CU_TRY(get_function(names[i], &out[i]));
  return CUDA_SUCCESS;
}

CUresult Image::get_global(const char* name, CUdeviceptr* address, std::size_t* bytes) {
  if (name == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the name is null");
  std::shared_ptr<const GlobalMemory> memory;
  TILEGYM_CU_TRY(globals(memory));
  const std::span<std::byte> found = find_global(*memory, name);
  if (found.empty()) return fail(CUDA_ERROR_NOT_FOUND, "the module has no global '" + std::string(name) + "'");
  if (address != nullptr) *address = reinterpret_cast<CUdeviceptr>(found.data());
  if (bytes != nullptr) *bytes = found.size();
  return CUDA_SUCCESS;
}

ModuleTable& modules() noexcept {
  static auto& table = *new ModuleTable;
  return table;
}

void unload_modules_of(const Context& context) {
  const auto unloaded =
      modules().erase_if([&](const LoadedModule& module) { return module.image.context() == &context; });
}

}  // namespace tilegym::cpu

using namespace tilegym::cpu;

extern "C" {

CUresult CUDAAPI cuModuleLoadData(CUmodule* out, const void* image) {
  return entry(__func__, [&] { return load_data(out, image); });
}

// The options steer a PTX compiler, which has no part in loading Tile IR.
CUresult CUDAAPI cuModuleLoadDataEx(CUmodule* out, const void* image, unsigned, CUjit_option*, void**) {
  return entry(__func__, [&] { return load_data(out, image); });
}

CUresult CUDAAPI cuModuleLoad(CUmodule* out, const char* path) {
  return entry(__func__, [&] { return load_file(out, path); });
}

CUresult CUDAAPI cuModuleUnload(CUmodule module) {
  return entry(__func__, [&] { return unload(module); });
}

CUresult CUDAAPI cuModuleGetFunction(CUfunction* out, CUmodule handle, const char* name) {
  return entry(__func__, [&]() -> CUresult {
    std::shared_ptr<LoadedModule> module;
    TILEGYM_CU_TRY(find_module(handle, module));
    return module->image.get_function(name, out);
  });
}

CUresult CUDAAPI cuModuleGetFunctionCount(unsigned* out, CUmodule handle) {
  return entry(__func__, [&]() -> CUresult {
    std::shared_ptr<LoadedModule> module;
    TILEGYM_CU_TRY(find_module(handle, module));
    return give(out, static_cast<unsigned>(module->image.entries().size()));
  });
}

CUresult CUDAAPI cuModuleEnumerateFunctions(CUfunction* out, unsigned count, CUmodule handle) {
  return entry(__func__, [&]() -> CUresult {
    std::shared_ptr<LoadedModule> module;
    TILEGYM_CU_TRY(find_module(handle, module));
    return module->image.get_functions({out, out == nullptr ? 0 : count});
  });
}

CUresult CUDAAPI cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* bytes, CUmodule handle, const char* name) {
  return entry(__func__, [&]() -> CUresult {
    std::shared_ptr<LoadedModule> module;
    TILEGYM_CU_TRY(find_module(handle, module));
    return module->image.get_global(name, address, bytes);
  });
}

CUresult CUDAAPI cuModuleGetLoadingMode(CUmoduleLoadingMode* out) {
  return entry(__func__, [&] { return give(out, CU_MODULE_LAZY_LOADING); });
}

}  // extern "C"
