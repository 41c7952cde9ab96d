#pragma once

#include <filesystem>
#include <string>

#include "common/result.h"

namespace tilegym::runtime {

/// A cargo with the rustc it uses.
struct RustCompiler {
  std::filesystem::path cargo;
  std::filesystem::path rustc;
  std::string version;  ///< output of `rustc -vV`
};

/// The first cargo on PATH whose rustc is new enough. The answer is kept in `cache` under everything it depends on, so
/// that an unchanged machine starts no process. Error: none is new enough; the text names what was found instead.
Result<RustCompiler> find_rust_compiler(const std::filesystem::path& cache);

}  // namespace tilegym::runtime
