#include "runtime/assembly.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "runtime/cache_folder.h"
#include "runtime/image_cache.h"
#include "runtime/sha256.h"
#include "runtime/tileiras_command.h"

namespace tilegym::runtime {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kLongestSpeech = 8192;
constexpr const char* kOptLevel = "3";

using Poll = bool (*)();
std::atomic<Poll> poll_function = nullptr;

/// A folder of our own below the one for temporary files; it goes with its content.
class WorkFolder {
 public:
  static Result<WorkFolder> make() {
    std::error_code error;
    const fs::path root = fs::temp_directory_path(error);
    std::string pattern = (root / "tilegym-XXXXXX").string();
    if (!error && mkdtemp(pattern.data()) != nullptr) {
      return WorkFolder(pattern);
    }
    return Error{fmt::format("cannot make a folder in '{}': {}; set TMPDIR to one that can be written", root.string(),
                             error ? error.message() : std::strerror(errno))};
  }
  WorkFolder(WorkFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder() {
    std::error_code ignored;
    if (!path_.empty()) {
      fs::remove_all(path_, ignored);
    }
  }
  [[nodiscard]] fs::path operator/(const char* name) const { return path_ / name; }

 private:
  explicit WorkFolder(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

std::string read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// Collects what a program says, up to a limit.
class Speech {
 public:
  void add(std::string_view line) {
    if (text_.size() < kLongestSpeech) {
      text_.append(line.substr(0, kLongestSpeech - text_.size())).append("\n");
    }
  }
  [[nodiscard]] std::string text() const {
    const std::size_t end = text_.find_last_not_of(" \n");
    return end == std::string::npos ? "nothing" : text_.substr(0, end + 1);
  }

 private:
  std::string text_;
};

std::vector<std::string> command_line(const Tileiras& compiler, const std::string& target, const fs::path& output,
                                      const fs::path& input) {
  return {compiler.path.string(), "--gpu-name",  target, "--opt-level", kOptLevel, "-o",
          output.string(),        input.string()};
}

Assembly failure(const AssemblyJob& job, const Tileiras& compiler, const std::string& ended, const Speech& speech) {
  const fs::path kept = keep_failed(job.title, job.bytecode);
  const std::string line = fmt::format("{}", fmt::join(command_line(compiler, job.target, "OUTPUT", kept), " "));
  return {Assembly::Outcome::failed,
          {},
          fmt::format("{}: tileiras for {}: {}\n  compiler: {} ({})\n  it said: {}\n  bytecode kept in: {}\n"
                      "  try it with: {}",
                      job.title, job.target, ended, compiler.path.string(), compiler.version, speech.text(),
                      kept.empty() ? "nowhere, no folder can be written" : kept.string(), line)};
}

Assembly refused(const AssemblyJob& job, const std::string& reason) {
  return {Assembly::Outcome::failed, {}, fmt::format("{}: tileiras for {}: {}", job.title, job.target, reason)};
}

Assembly judge(const AssemblyJob& job, const Tileiras& compiler, const Outcome& outcome, const Speech& speech,
               const fs::path& output) {
  if (outcome.cancelled) {
    return {Assembly::Outcome::cancelled, {}, job.title + ": compiling was cancelled"};
  }
  if (!outcome.succeeded()) {
    return failure(job, compiler, "it ended with " + ending_text(outcome), speech);
  }
  std::string cubin = read_file(output);
  if (cubin.empty()) {
    return failure(job, compiler, "it ended well but wrote no cubin", speech);
  }
  return {Assembly::Outcome::done, std::move(cubin), {}};
}

Assembly run_compiler(const AssemblyJob& job, const Tileiras& compiler) {
  const Result<WorkFolder> folder = WorkFolder::make();
  if (!folder) {
    return refused(job, folder.error().message);
  }
  const fs::path input = folder.value() / "kernel.tileirbc";
  const fs::path output = folder.value() / "kernel.cubin";
  if (const Status written = publish_file(input, job.bytecode); !written) {
    return refused(job, written.error().message + "; set TMPDIR to a folder with space");
  }
  Speech speech;
  const auto listen = [&](std::string_view line) { speech.add(line); };
  const auto keep_going = [] {
    const Poll poll = poll_function.load();
    return poll == nullptr || poll();
  };
  const Result<Outcome> outcome =
      run_process({command_line(compiler, job.target, output, input)}, {listen, listen, keep_going});
  if (!outcome) {
    return failure(job, compiler, outcome.error().message, speech);
  }
  return judge(job, compiler, outcome.value(), speech, output);
}

CacheEntry cubin_entry(const AssemblyJob& job, const Tileiras& compiler) {
  const std::vector<std::string> options{"gpu-name=" + job.target, std::string("opt-level=") + kOptLevel};
  std::string key = tileiras_key(compiler.identity, options, {}, job.bytecode);
  std::string name = entry_name(key, "cubin");
  return {std::move(name), std::move(key), {}};
}

Assembly assemble_with(const AssemblyJob& job, const Tileiras& compiler) {
  CacheEntry entry = cubin_entry(job, compiler);
  if (std::optional<std::string> cubin = find_image(entry.name)) {
    return {Assembly::Outcome::done, *std::move(cubin), {}};
  }
  Assembly result = run_compiler(job, compiler);
  if (result.outcome == Assembly::Outcome::done) {
    entry.payload = result.cubin;
    store_image(entry);
  }
  return result;
}

/// The value of a line "name=value" of a description.
std::string line_value(std::string_view description, std::string_view name) {
  const std::string start = "\n" + std::string(name) + "=";
  const std::string text = "\n" + std::string(description);
  const std::size_t at = text.find(start);
  if (at == std::string::npos) {
    return {};
  }
  const std::size_t from = at + start.size();
  return text.substr(from, text.find('\n', from) - from);
}

std::string with_compiler(std::string_view stem, const Tileiras& compiler) {
  return std::string(stem) + Sha256().update(compiler.identity).hex().substr(0, 16) + ".cubin";
}

}  // namespace

Assembly assemble(const AssemblyJob& job) {
  const Result<Tileiras> compiler = find_tileiras();
  return compiler.ok() ? assemble_with(job, compiler.value()) : refused(job, compiler.error().message);
}

Result<CacheEntry> assemble_entry(const CacheEntry& bytecode) {
  const std::string target = line_value(bytecode.description, "arch");
  const std::size_t dot = bytecode.name.find('.');
  if (target.empty() || bytecode.name.substr(dot + 1) != "tileirbc") {
    return Error{"cache entry " + bytecode.name + ": wanted the bytecode of a kernel with its target, got another"};
  }
  TILEGYM_ASSIGN(const Tileiras compiler, find_tileiras());
  const std::string title =
      line_value(bytecode.description, "kernel") + "<" + line_value(bytecode.description, "generics") + ">";
  Assembly assembly = assemble_with({title, target, bytecode.payload}, compiler);
  if (assembly.outcome != Assembly::Outcome::done) {
    return Error{std::move(assembly.reason)};
  }
  const std::string_view stem = std::string_view(bytecode.name).substr(0, dot + 1);
  return CacheEntry{with_compiler(stem, compiler), bytecode.description, std::move(assembly.cubin)};
}

std::string cubin_entry_name(const std::string& key, const Tileiras& compiler) {
  return with_compiler(entry_name(key, ""), compiler);
}

void set_assembly_poll(bool (*keep_going)()) {
  poll_function = keep_going;
}

std::string ending_text(const Outcome& outcome) {
  if (outcome.signal == 0) {
    return fmt::format("exit status {}", outcome.exit_code);
  }
  const char* name = sigabbrev_np(outcome.signal);
  return fmt::format("signal SIG{} ({})", name == nullptr ? std::to_string(outcome.signal) : name,
                     strsignal(outcome.signal));
}

}  // namespace tilegym::runtime
