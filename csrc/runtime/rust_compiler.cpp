#include "runtime/rust_compiler.h"

#include <sys/stat.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "runtime/cache_folder.h"
#include "runtime/log.h"
#include "runtime/process.h"
#include "runtime/settings.h"
#include "runtime/sha256.h"

namespace tilegym::runtime {
namespace {

namespace fs = std::filesystem;
using Version = std::pair<int, int>;
constexpr Version kOldest{1, 89};  // what cutile 0.2.0 states as its rust-version
constexpr const char* kRemedy = "install it with: apt-get install cargo-web rustc-web (Debian), or with rustup";

struct Candidate {
  fs::path cargo;
  fs::path rustc;
};

/// cargo takes the rustc that comes first on PATH; we put cargo's own folder in front of it.
std::vector<Candidate> candidates() {
  const std::vector<fs::path> compilers = find_programs("rustc");
  std::vector<Candidate> found;
  for (const fs::path& cargo : find_programs("cargo")) {
    std::error_code error;
    const fs::path sibling = cargo.parent_path() / "rustc";
    if (fs::exists(sibling, error)) {
      found.push_back({cargo, sibling});
    } else if (!compilers.empty()) {
      found.push_back({cargo, compilers.front()});
    }
  }
  return found;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string stamp(const fs::path& path) {
  struct stat entry{};
  if (stat(path.c_str(), &entry) != 0) {
    return path.string() + " absent\n";
  }
  std::ostringstream text;
  text << path.string() << ' ' << entry.st_dev << ' ' << entry.st_ino << ' ' << entry.st_size << ' '
       << entry.st_mtim.tv_sec << '.' << entry.st_mtim.tv_nsec << '\n';
  return text.str();
}

/// Everything that `rustc -vV` depends on. rustup's rustc is a front for a toolchain that its settings choose, and an
/// update of that toolchain shows in the folder of hashes.
std::string identity(const std::vector<Candidate>& found) {
  std::string text = "toolchain " + variable("RUSTUP_TOOLCHAIN") + "\n";
  for (const Candidate& candidate : found) {
    text += stamp(candidate.cargo) + stamp(candidate.rustc);
  }
  const std::string root = variable("RUSTUP_HOME");
  const fs::path rustup = root.empty() ? home_folder() / ".rustup" : fs::path(root);
  for (const char* part : {"settings.toml", "toolchains", "update-hashes"}) {
    text += stamp(rustup / part);
  }
  return Sha256().update(text).hex();
}

std::optional<Version> parse_version(const std::string& text) {
  const std::size_t at = text.find("release: ");
  Version version;
  char dot = 0;
  std::istringstream stream(at == std::string::npos ? "" : text.substr(at + 9));
  return stream >> version.first >> dot >> version.second ? std::optional(version) : std::nullopt;
}

Error none_found(const std::string& rejected) {
  const std::string got = rejected.empty() ? "none" : rejected;
  return Error{"cargo and rustc: wanted version " + std::to_string(kOldest.first) + "." +
               std::to_string(kOldest.second) + " or later on PATH, got " + got + "; " + kRemedy};
}

Result<RustCompiler> ask(const std::vector<Candidate>& found) {
  std::string rejected;
  for (const Candidate& candidate : found) {
    const Result<std::string> answer = output_of({{candidate.rustc.string(), "-vV"}});
    const std::optional<Version> version = answer.ok() ? parse_version(answer.value()) : std::nullopt;
    if (version && *version >= kOldest) {
      return RustCompiler{candidate.cargo, candidate.rustc, answer.value()};
    }
    const std::string what =
        version ? std::to_string(version->first) + "." + std::to_string(version->second) : "one that does not run";
    rejected += (rejected.empty() ? "" : ", ") + what + " in " + candidate.rustc.parent_path().string();
  }
  return none_found(rejected);
}

/// File format: cargo's path, rustc's path, then the version text.
std::optional<RustCompiler> recall(const fs::path& file) {
  std::ifstream stream(file);
  std::string cargo;
  std::string rustc;
  if (!std::getline(stream, cargo) || !std::getline(stream, rustc)) {
    return std::nullopt;
  }
  const std::string version{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  return parse_version(version) ? std::optional(RustCompiler{cargo, rustc, version}) : std::nullopt;
}

}  // namespace

Result<RustCompiler> find_rust_compiler(const fs::path& cache) {
  const std::vector<Candidate> found = candidates();
  if (found.empty()) {
    return none_found("");
  }
  const fs::path file = cache / "rustc" / identity(found);
  if (std::optional<RustCompiler> known = recall(file)) {
    return *std::move(known);
  }
  TILEGYM_ASSIGN(RustCompiler compiler, ask(found));
  const std::string text = compiler.cargo.string() + "\n" + compiler.rustc.string() + "\n" + compiler.version;
  if (const Status kept = publish_file(file, text); !kept) {
    log_once(LogLevel::debug, kept.error().message);
  }
  return compiler;
}

}  // namespace tilegym::runtime
