#include "runtime/cargo.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <set>
#include <sstream>

#include "runtime/process.h"

namespace tilegym::runtime {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kErrorLines = 17;  // with the lines around it an error stays below 20

/// Appends a code point in UTF-8. Halves of surrogate pairs, which rustc does not emit, become "?".
void append_utf8(std::string& text, unsigned code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += {static_cast<char>(0xc0 | code >> 6), static_cast<char>(0x80 | (code & 0x3f))};
  } else if (code >= 0xd800 && code < 0xe000) {
    text += '?';
  } else {
    text += {static_cast<char>(0xe0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 0x3f)),
             static_cast<char>(0x80 | (code & 0x3f))};
  }
}

char simple_escape(char letter) {
  constexpr std::string_view kLetters = "nrtbf";
  constexpr std::string_view kMeanings = "\n\r\t\b\f";
  const std::size_t at = kLetters.find(letter);
  return at == std::string_view::npos ? letter : kMeanings[at];
}

/// The text of a JSON string, from after its opening quote to its closing quote.
std::string unescape(std::string_view rest) {
  std::string text;
  for (std::size_t i = 0; i < rest.size() && rest[i] != '"'; ++i) {
    if (rest[i] != '\\' || i + 1 == rest.size()) {
      text += rest[i];
    } else if (rest[++i] != 'u') {
      text += simple_escape(rest[i]);
    } else {
      unsigned code = '?';
      const std::string_view digits = rest.substr(i + 1, 4);
      std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
      append_utf8(text, code);
      i += digits.size();
    }
  }
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

/// The op whose folder (`<op>_kernel`) a compiler error points into; empty where it points elsewhere.
std::string op_of(const std::string& rendered) {
  const std::size_t end = rendered.find("_kernel/");
  if (end == std::string::npos) {
    return "";
  }
  const std::size_t slash = rendered.find_last_of("/ ", end);
  const std::size_t start = slash == std::string::npos ? 0 : slash + 1;
  return rendered.substr(start, end - start);
}

/// Reads what a running cargo says.
class Listener {
 public:
  Listener(const CargoBuild& build, BuildProgress& progress) : build_(build), progress_(progress), log_(build.log) {}

  void on_message(std::string_view line) {
    if (!line.starts_with('{')) {
      log_ << line << '\n';
      return;
    }
    const std::string reason = message_field(line, "reason");
    if (reason == "compiler-artifact") {
      // A crate's build script is an artifact as well, and comes long before the crate itself.
      if (line.find(R"("kind":["custom-build"])") == std::string_view::npos) {
        progress_.crate_done(message_field(line, "package_id"));
      }
      remember_library(line);
    } else if (reason == "compiler-message") {
      const std::string rendered = message_field(line, "rendered");
      log_ << rendered;
      if (message_field(line, "level") == "error") {
        errors_.push_back(rendered);
      }
    }
  }

  void on_line(std::string_view line) {
    log_ << line << std::endl;  // flushed: who watches the file sees the build move
    lines_.emplace_back(line);
    progress_.set_activity(line.substr(std::min(line.find_first_not_of(' '), line.size())));
  }

  [[nodiscard]] const fs::path& library() const { return library_; }
  [[nodiscard]] std::string summary() const { return summarise_failure(errors_, lines_, kErrorLines); }

 private:
  void remember_library(std::string_view line) {
    const std::size_t end = line.find("/" + build_.library + "\"");
    if (end != std::string_view::npos) {
      const std::size_t start = line.rfind('"', end) + 1;
      library_ = unescape(line.substr(start));
    }
  }

  const CargoBuild& build_;
  BuildProgress& progress_;
  std::ofstream log_;
  std::vector<std::string> errors_;
  std::vector<std::string> lines_;
  fs::path library_;
};

Command cargo_command(const CargoBuild& build, const Toolchain& toolchain, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), toolchain.rust->cargo.string());
  Command command{std::move(arguments), toolchain.environment, build.crate};
  command.environment["CARGO_TARGET_DIR"] = build.target.string();
  command.environment["TILEGYM_SOURCE_FINGERPRINT"] = build.source_fingerprint;
  return command;
}

/// Number of crates in the build; 0 where cargo cannot tell, which the build itself then explains.
std::size_t count_crates(const CargoBuild& build, const Toolchain& toolchain) {
  const Result<std::string> tree =
      output_of(cargo_command(build, toolchain, {"tree", "--locked", "--prefix=none", "--edges=normal,build"}));
  std::set<std::string> crates;
  for (const std::string& line : tree.ok() ? lines_of(tree.value()) : std::vector<std::string>{}) {
    const std::size_t version = line.find(" v");
    if (version != std::string::npos) {
      crates.insert(line.substr(0, line.find(' ', version + 1)));
    }
  }
  return crates.size();
}

Error failure(const CargoBuild& build, const Outcome& outcome, const BuildProgress& progress, const Listener& heard) {
  const std::string status = outcome.signal != 0 ? "signal " + std::to_string(outcome.signal)
                                                 : "exit status " + std::to_string(outcome.exit_code);
  const std::string time = minutes_text(progress.elapsed());
  return Error{"kernel library: cargo build failed after " + time + " (" + status +
               "); full log: " + build.log.string() + "\n" + heard.summary()};
}

}  // namespace

std::string message_field(std::string_view line, std::string_view name) {
  // Quotes inside a JSON string are escaped, so this text is found as a member's name only.
  const std::string key = "\"" + std::string(name) + "\":\"";
  const std::size_t at = line.find(key);
  return at == std::string_view::npos ? "" : unescape(line.substr(at + key.size()));
}

std::string summarise_failure(const std::vector<std::string>& compiler_errors,
                              const std::vector<std::string>& cargo_lines, std::size_t limit) {
  std::vector<std::string> lines;
  for (const std::string& rendered : compiler_errors) {
    if (const std::string op = op_of(rendered); !op.empty()) {
      lines.push_back("in op " + op + ":");
    }
    const std::vector<std::string> more = lines_of(rendered);
    lines.insert(lines.end(), more.begin(), more.end());
  }
  if (compiler_errors.empty()) {
    const auto first = std::find_if(cargo_lines.begin(), cargo_lines.end(),
                                    [](const std::string& line) { return line.starts_with("error"); });
    lines.assign(first, cargo_lines.end());
  }
  std::string text;
  for (const std::string& line : lines) {
    if (limit-- == 0) {
      return text + "...";
    }
    text += line + "\n";
  }
  text.erase(text.find_last_not_of('\n') + 1);
  return text;
}

Result<fs::path> run_cargo(const CargoBuild& build, const Toolchain& toolchain,
                           const std::function<bool()>& keep_going) {
  BuildProgress progress("building the kernel library");
  progress.tick();
  progress.set_total(count_crates(build, toolchain));
  Listener listener(build, progress);
  const Watcher watcher{[&](std::string_view line) { listener.on_message(line); },
                        [&](std::string_view line) { listener.on_line(line); },
                        [&] {
                          progress.tick();
                          return keep_going();
                        }};
  const Command command = cargo_command(build, toolchain, {"build", "--release", "--locked", "--message-format=json"});
  TILEGYM_ASSIGN(const Outcome outcome, run_process(command, watcher));
  if (outcome.cancelled) {
    progress.finish("cancelled");
    return Error{"kernel library: the build was cancelled"};
  }
  if (!outcome.succeeded() || listener.library().empty()) {
    progress.finish("failed");
    return failure(build, outcome, progress, listener);
  }
  progress.finish("done");
  return listener.library();
}

}  // namespace tilegym::runtime
