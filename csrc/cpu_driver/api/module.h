#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cpu_driver/api/context.h"
#include "cpu_driver/engine/engine.h"
#include "tile_ir/module.h"

namespace tilegym::cpu {

/// An entry ready to launch. Also what a CUkernel is: both handles name the same object, as cuLaunchKernel takes
/// either.
struct Function {
  static constexpr std::uintptr_t kHandleKind = 4;

  /// Place of a parameter in a packed argument buffer (natural alignment).
  struct Slot {
    std::size_t offset = 0;
    std::size_t bytes = 0;
  };

  Function(std::unique_ptr<const Kernel> lowered, const Context* owner);

  std::string name;  ///< NUL-terminated for the C API
  std::shared_ptr<const Kernel> kernel;
  std::vector<Slot> slots;
  std::size_t argument_bytes = 0;
  const Context* context = nullptr;  ///< null: of a library, usable in every context
};

using FunctionTable = HandleTable<Function, CUfunction>;
[[nodiscard]] FunctionTable& functions() noexcept;
CUresult find_function(CUfunction handle, Function*& function) noexcept;

/// A loaded image. Entries are lowered when they are first asked for.
class Image {
 public:
  Image(std::shared_ptr<const tile_ir::Module> module, const Context* context)
      : module_(std::move(module)), context_(context) {}
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  /// Ends the functions' handles.
  ~Image();

  /// CUDA_ERROR_NOT_FOUND where there is no such entry; CUDA_ERROR_NOT_SUPPORTED where the engine cannot execute it.
  CUresult get_function(const char* name, CUfunction* out);
  /// The first entries, as many as there is room for.
  CUresult get_functions(std::span<CUfunction> out);
  /// Address and size of a module global; null pointers are skipped.
  CUresult get_global(const char* name, CUdeviceptr* address, std::size_t* bytes);
  [[nodiscard]] const Context* context() const noexcept { return context_; }
  [[nodiscard]] const std::shared_ptr<const tile_ir::Module>& module() const noexcept { return module_; }
  /// Names of the entries in the order of the module.
  [[nodiscard]] std::vector<const char*> entries() const;

 private:
  CUresult lower(const char* name, std::shared_ptr<Function>& function);
  /// The module's globals, set to their initial values when they are first asked for.
  CUresult globals(std::shared_ptr<const GlobalMemory>& out);
  [[nodiscard]] std::string entry_names() const;

  const std::shared_ptr<const tile_ir::Module> module_;
  const Context* const context_;
  std::map<std::string, CUfunction, std::less<>> functions_;  // guarded by driver_lock()
  std::shared_ptr<const GlobalMemory> globals_;               // guarded by driver_lock()
};

/// What a CUmodule names.
struct LoadedModule {
  static constexpr std::uintptr_t kHandleKind = 5;
  LoadedModule(std::shared_ptr<const tile_ir::Module> module, const Context* context)
      : image(std::move(module), context) {}
  Image image;
};
using ModuleTable = HandleTable<LoadedModule, CUmodule>;
[[nodiscard]] ModuleTable& modules() noexcept;
void unload_modules_of(const Context& context);

/// What a CUlibrary names.
struct Library {
  static constexpr std::uintptr_t kHandleKind = 6;
  explicit Library(std::shared_ptr<const tile_ir::Module> module) : image(std::move(module), nullptr) {}
  Image image;
  std::map<const Context*, CUmodule> modules;  ///< the library as a module of a context; guarded by driver_lock()
};
using LibraryTable = HandleTable<Library, CUlibrary>;
[[nodiscard]] LibraryTable& libraries() noexcept;

}  // namespace tilegym::cpu
