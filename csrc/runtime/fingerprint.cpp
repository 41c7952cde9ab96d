#include "runtime/fingerprint.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <set>

#include "runtime/kernel_abi.h"
#include "runtime/sha256.h"

namespace tilegym::runtime {
namespace {

namespace fs = std::filesystem;
using Files = std::set<fs::path>;

std::string read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

bool decides_the_build(const fs::path& path) {
  const fs::path extension = path.extension();
  return extension == ".rs" || extension == ".toml" || path.filename() == "Cargo.lock";
}

void add_tree(const fs::path& folder, Files& files) {
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (entry->path().filename() == "target") {
      entry.disable_recursion_pending();
    } else if (entry->is_regular_file(error) && decides_the_build(entry->path())) {
      files.insert(entry->path().lexically_normal());
    }
  }
}

void add_op_folders(const fs::path& crate, Files& files) {
  std::error_code error;
  fs::directory_iterator entry(crate.parent_path(), error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (entry->path().filename().string().ends_with("_kernel") && entry->is_directory(error)) {
      add_tree(entry->path(), files);
    }
  }
}

/// The string literals that follow a marker in a Rust source.
std::vector<std::string> literals_after(std::string_view text, std::string_view marker) {
  std::vector<std::string> literals;
  for (std::size_t at = text.find(marker); at != std::string_view::npos; at = text.find(marker, at)) {
    at += marker.size();
    const std::size_t open = text.find_first_not_of(" \t\r\n", at);
    if (open == std::string_view::npos || text[open] != '"') {
      continue;
    }
    const std::size_t close = text.find('"', open + 1);
    if (close != std::string_view::npos) {
      literals.emplace_back(text.substr(open + 1, close - open - 1));
    }
  }
  return literals;
}

/// Adds what `from` includes by a literal path. A path that is not there is rustc's to complain about.
void follow_includes(const fs::path& from, Files& files, std::vector<fs::path>& unread) {
  constexpr std::array<std::string_view, 4> kMarkers{"include!(", "include_str!(", "include_bytes!(", "#[path ="};
  const std::string text = read_file(from);
  for (const std::string_view marker : kMarkers) {
    for (const std::string& literal : literals_after(text, marker)) {
      const fs::path path = (from.parent_path() / literal).lexically_normal();
      std::error_code error;
      if (fs::is_regular_file(path, error) && files.insert(path).second) {
        unread.push_back(path);
      }
    }
  }
}

}  // namespace

Result<std::vector<fs::path>> source_files(const fs::path& given) {
  std::error_code error;
  const fs::path crate = fs::absolute(given, error).lexically_normal();
  if (!fs::is_regular_file(crate / "Cargo.toml", error)) {
    return Error{"kernel sources: wanted a crate folder with Cargo.toml, got '" + given.string() +
                 "'; set CUTILE_RS_KERNELS_DIR to the cutile_kernels folder, or unset it"};
  }
  Files files;
  add_tree(crate, files);
  add_op_folders(crate, files);
  std::vector<fs::path> unread(files.begin(), files.end());
  while (!unread.empty()) {
    const fs::path next = std::move(unread.back());
    unread.pop_back();
    if (next.extension() == ".rs") {
      follow_includes(next, files, unread);
    }
  }
  return std::vector<fs::path>(files.begin(), files.end());
}

Result<std::string> source_fingerprint(const fs::path& crate) {
  TILEGYM_ASSIGN(const std::vector<fs::path> files, source_files(crate));
  const fs::path root = fs::absolute(crate).lexically_normal();
  Sha256 hash;
  hash.update("abi " + std::to_string(kAbiVersion));
  for (const fs::path& file : files) {
    const std::string text = read_file(file);
    // Lengths keep "ab" + "c" apart from "a" + "bc".
    const std::string name = file.lexically_relative(root).generic_string();
    hash.update(" " + std::to_string(name.size()) + " " + std::to_string(text.size()) + " ").update(name).update(text);
  }
  return hash.hex();
}

std::string build_fingerprint(std::string_view source_fingerprint, std::string_view rustc_version) {
  return Sha256().update(source_fingerprint).update("\n").update(rustc_version).hex();
}

}  // namespace tilegym::runtime
