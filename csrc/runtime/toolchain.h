#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "runtime/rust_compiler.h"

/// What a build of the kernel library needs from the machine.
namespace tilegym::runtime {

/// Folders of installed Python wheels that may hold a part.
struct WheelFolders {
  std::vector<std::filesystem::path> cuda;      ///< with include/cuda.h
  std::vector<std::filesystem::path> libclang;  ///< with libclang.so
};

/// One needed part: where it was found, or what was wanted, what was got and the remedy.
struct ToolCheck {
  std::string name;
  bool found;
  std::string text;
};

struct Toolchain {
  std::vector<ToolCheck> checks;
  std::optional<RustCompiler> rust;
  std::map<std::string, std::string> environment;  ///< what cargo needs besides the target folder

  /// An error with one line for each missing part.
  [[nodiscard]] Status complete() const;
};

/// Looks for cargo and rustc, a C compiler, libclang (LIBCLANG_PATH, wheels, system) and the CUDA headers
/// (CUDA_TOOLKIT_PATH, CUDA_HOME, wheels, /usr/local/cuda). LIBCLANG_PATH and CUDA_TOOLKIT_PATH decide where they are
/// set: a wrong value is a missing part, not a reason to look elsewhere.
Toolchain find_toolchain(const std::filesystem::path& cache, const WheelFolders& wheels);

}  // namespace tilegym::runtime
