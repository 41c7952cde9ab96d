#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/build_progress.h"

/// What a running cargo says.
namespace tilegym::runtime {

/// One line of `cargo build --message-format=json`: the value of the first string member with this name, unescaped;
/// empty where there is none.
std::string message_field(std::string_view line, std::string_view name);

/// At most `limit` lines that tell why a build failed: compiler errors with file and line, else what cargo said.
std::string summarise_failure(const std::vector<std::string>& compiler_errors,
                              const std::vector<std::string>& cargo_lines, std::size_t limit);

/// Keeps the full log, tells the progress, and remembers what matters at the end. One thread uses it.
class CargoListener {
 public:
  /// `library`: file name of the product to look for.
  CargoListener(const std::filesystem::path& log, std::string library, BuildProgress& progress);

  void on_message(std::string_view line);  ///< a line of standard output
  void on_line(std::string_view line);     ///< a line of standard error
  void forget_lines() { lines_.clear(); }

  /// Path of the product; empty where cargo has not made it.
  [[nodiscard]] const std::filesystem::path& library() const { return library_; }
  /// Why the build failed, at most 20 lines with those that the caller puts around them.
  [[nodiscard]] std::string summary() const;

 private:
  void remember_library(std::string_view line);

  std::ofstream log_;
  std::string library_name_;
  BuildProgress& progress_;
  std::vector<std::string> errors_;
  std::vector<std::string> lines_;
  std::filesystem::path library_;
};

}  // namespace tilegym::runtime
