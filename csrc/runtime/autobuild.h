#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "common/result.h"
#include "runtime/toolchain.h"

namespace tilegym::runtime {

inline constexpr const char* kLibraryName = "libcutile_kernels.so";

struct BuildRequest {
  std::filesystem::path crate;     ///< folder of the crate; empty: there are no sources here
  std::filesystem::path prebuilt;  ///< folder that may hold a library made with the package
  WheelFolders wheels;
  bool always_build = false;  ///< build where needed even with autobuild switched off
  /// Asked several times a second while something is waited for; false ends the wait.
  std::function<bool()> keep_going = [] { return true; };
};

struct LibraryFile {
  std::filesystem::path path;
  std::string source_fingerprint;  ///< "" for a prebuilt library without sources beside it
  bool built = false;              ///< by this call
};

/// The kernel library of the sources as they are now, where there is one already: the package's own, or in the cache.
Result<std::optional<LibraryFile>> find_library(const BuildRequest& request);

/// The kernel library of the sources as they are now: the package's own where it fits, else the one in the cache, else
/// built by cargo and published in the cache for everybody. Of many callers, in one process or several, one builds and
/// the others wait and take its result. May take minutes; never writes beside the sources. Thread-safe.
Result<LibraryFile> ensure_library(const BuildRequest& request);

}  // namespace tilegym::runtime
