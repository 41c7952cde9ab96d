#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

#include "common/result.h"
#include "runtime/toolchain.h"

namespace tilegym::runtime {

/// What the user asks of a build beside its sources.
struct BuildOptions {
  std::string features;       ///< for cargo's --features
  std::string variables;      ///< cargo's own variables that change what is built, as text
  std::chrono::seconds wait;  ///< for locks that other processes hold

  /// Part of what a library is filed under, one line; empty where nothing is asked.
  [[nodiscard]] std::string identity() const;
};

/// From the settings and the environment. Error: a bad setting.
Result<BuildOptions> read_build_options();

/// One build of a crate's shared library in release mode, with its lock file as it is.
struct CargoBuild {
  std::filesystem::path crate;
  std::filesystem::path target;  ///< target folder; nothing is written beside the sources
  std::filesystem::path log;     ///< full output
  std::string source_fingerprint;
  std::string library;  ///< file name of the shared library
  BuildOptions options;
};

/// Runs cargo and returns the path of the built library. Asks `keep_going` several times a second. When this process
/// dies, cargo and everything it has started are killed. Where cargo waits for another process's lock, a line every few
/// seconds names that process. Error: cargo failed (time, status, log file and the first complaint, at most 20 lines),
/// waited longer than the limit, or was cancelled.
Result<std::filesystem::path> run_cargo(const CargoBuild& build, const Toolchain& toolchain,
                                        const std::function<bool()>& keep_going);

}  // namespace tilegym::runtime
