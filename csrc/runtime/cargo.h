#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "runtime/build_progress.h"
#include "runtime/toolchain.h"

namespace tilegym::runtime {

/// One build of a crate's shared library in release mode, with its lock file as it is.
struct CargoBuild {
  std::filesystem::path crate;
  std::filesystem::path target;  ///< target folder; nothing is written beside the sources
  std::filesystem::path log;     ///< full output
  std::string source_fingerprint;
  std::string library;  ///< file name of the shared library
};

/// Runs cargo and returns the path of the built library. Asks `keep_going` several times a second. Error: cargo failed
/// (time, status, log file and the first complaint, at most 20 lines) or was cancelled.
Result<std::filesystem::path> run_cargo(const CargoBuild& build, const Toolchain& toolchain,
                                        const std::function<bool()>& keep_going);

/// One line of `cargo build --message-format=json`: the value of the first string member with this name, unescaped;
/// empty where there is none.
std::string message_field(std::string_view line, std::string_view name);

/// At most `limit` lines that tell why a build failed: compiler errors with file and line, else what cargo said.
std::string summarise_failure(const std::vector<std::string>& compiler_errors,
                              const std::vector<std::string>& cargo_lines, std::size_t limit);

}  // namespace tilegym::runtime
