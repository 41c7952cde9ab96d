#include "runtime/tileiras_identity.h"

#include <sys/stat.h>

#include <array>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>

#include "runtime/image_cache.h"
#include "runtime/process.h"
#include "runtime/sha256.h"

namespace tilegym::runtime {
namespace {

namespace fs = std::filesystem;
constexpr std::uintmax_t kLargestScript = 1 << 20;
// What tileiras runs and loads, from its own folder; sizes tell one release from another.
constexpr std::array kCompanions{"ptxas", "../lib/libnvvm.so.4", "../nvvm/lib64/libnvvm.so.4"};

std::string read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// The file as it is: another one in its place, or a change of it, differs.
std::string state_of(const fs::path& path) {
  struct stat entry{};
  if (stat(path.c_str(), &entry) != 0) {
    return path.string();
  }
  std::string text = path.string();
  for (const auto part :
       {static_cast<std::int64_t>(entry.st_dev), static_cast<std::int64_t>(entry.st_ino),
        static_cast<std::int64_t>(entry.st_size), static_cast<std::int64_t>(entry.st_mtim.tv_sec),
        static_cast<std::int64_t>(entry.st_mtim.tv_nsec), static_cast<std::int64_t>(entry.st_ctim.tv_sec),
        static_cast<std::int64_t>(entry.st_ctim.tv_nsec)}) {
    text += " " + std::to_string(part);
  }
  return text;
}

std::string size_text(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  return error ? "-" : std::to_string(size);
}

std::string identity_of(const fs::path& path, const std::string& said) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  std::string text = "says " + said + "\nsize " + size_text(real) + "\n";
  if (const std::uintmax_t size = fs::file_size(real, error); !error && size <= kLargestScript) {
    text += "content " + Sha256().update(read_file(real)).hex() + "\n";
  }
  for (const char* companion : kCompanions) {
    text += std::string(companion) + " " + size_text(real.parent_path() / companion) + "\n";
  }
  return text;
}

/// The line with the release of what a compiler says of itself, else the first one.
std::string version_in(std::string_view said) {
  std::size_t start = said.find("release ");
  if (start == std::string_view::npos) {
    start = 0;
  }
  const std::string_view line = said.substr(start, said.find('\n', start) - start);
  return line.empty() ? "it does not tell its version" : std::string(line);
}

/// What it says is asked once and noted, since starting a large program takes longer than all the rest of a lookup.
std::string words_of(const fs::path& path, const std::string& state) {
  CacheEntry note{entry_name("what a compiler says of itself\n" + state, "note"), "compiler=" + state + "\n", {}};
  if (std::optional<std::string> said = find_note(note.name)) {
    return *std::move(said);
  }
  const Result<std::string> said = output_of({{path.string(), "--version"}});
  if (said.ok()) {
    note.payload = said.value();
    store_note(note);
  }
  return note.payload;
}

}  // namespace

Tileiras identify_tileiras(const fs::path& path) {
  static std::mutex mutex;
  static std::map<std::string, Tileiras> known;
  const std::string state = state_of(path);
  const std::scoped_lock lock(mutex);
  const auto found = known.find(state);
  if (found != known.end()) {
    return found->second;
  }
  const std::string said = words_of(path, state);
  return known[state] = Tileiras{path, version_in(said), identity_of(path, said)};
}

bool file_holds(const fs::path& path, std::string_view text) {
  return read_file(path).find(text) != std::string::npos;
}

}  // namespace tilegym::runtime
