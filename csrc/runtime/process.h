#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace tilegym::runtime {

/// A program to run. Its standard input is empty.
struct Command {
  std::vector<std::string> arguments;                ///< arguments[0] is looked up on PATH unless it holds a slash
  std::map<std::string, std::string> environment{};  ///< added to, or replacing, this process's own
  std::filesystem::path folder{};                    ///< working folder; empty: this process's own
};

/// What a running program is watched with. Functions are called on the calling thread; absent ones are skipped.
struct Watcher {
  std::function<void(std::string_view line)> on_output{};  ///< a line of standard output, without its end
  std::function<void(std::string_view line)> on_error{};   ///< the same for standard error
  std::function<bool()> keep_going{};  ///< asked at least five times a second; false ends the program
};

struct Outcome {
  int exit_code = 0;  ///< 0 to 255, or -1 where a signal ended the program
  int signal = 0;
  bool cancelled = false;  ///< ended because keep_going said so

  [[nodiscard]] bool succeeded() const { return exit_code == 0 && !cancelled; }
};

/// Runs a program to its end in a process group of its own. When keep_going says false the whole group gets SIGTERM and
/// two seconds later SIGKILL; when this process dies the program gets SIGTERM. Error: the program cannot be started.
Result<Outcome> run_process(const Command& command, const Watcher& watcher);

/// Standard output of a short program, without trailing space; an error where it cannot be started or fails.
Result<std::string> output_of(const Command& command);

/// Every executable of this name on PATH, in its order.
std::vector<std::filesystem::path> find_programs(std::string_view name);

}  // namespace tilegym::runtime
