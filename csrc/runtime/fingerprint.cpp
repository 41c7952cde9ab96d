#include "runtime/fingerprint.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>

#include "runtime/kernel_abi.h"
#include "runtime/sha256.h"

namespace tilegym::runtime {
namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

bool is_manifest(const fs::path& path) {
  return path.filename() == "Cargo.toml";
}

bool decides_the_build(const fs::path& path) {
  const fs::path extension = path.extension();
  return extension == ".rs" || extension == ".toml" || path.filename() == "Cargo.lock";
}

/// Build output, and what cargo builds for its other commands only.
bool is_left_out(const fs::path& folder) {
  constexpr std::array<std::string_view, 3> kOtherTargets{"tests", "benches", "examples"};
  std::error_code error;
  const std::string name = folder.filename().string();
  return name == "target" || (std::find(kOtherTargets.begin(), kOtherTargets.end(), name) != kOtherTargets.end() &&
                              fs::is_regular_file(folder.parent_path() / "Cargo.toml", error));
}

/// The files found so far, and those of them that have not been searched for more.
class Sources {
 public:
  explicit Sources(fs::path root) : root_(std::move(root)) { add_crate(root_); }

  void add_file(const fs::path& path) {
    const fs::path plain = path.lexically_normal();
    std::error_code error;
    if (fs::is_regular_file(plain, error) && files_.insert(plain).second) {
      unread_.push_back(plain);
    }
  }

  void add_tree(const fs::path& folder) {
    std::error_code error;
    fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      if (entry->is_directory(error) && is_left_out(entry->path())) {
        entry.disable_recursion_pending();
      } else if (decides_the_build(entry->path())) {
        add_file(entry->path());
      }
    }
  }

  /// Adds what the files name, and what that names in turn. A path that is not there is for rustc to complain about.
  std::vector<fs::path> followed() && {
    while (!unread_.empty()) {
      const fs::path next = std::move(unread_.back());
      unread_.pop_back();
      if (is_manifest(next)) {
        follow_dependencies(next);
      } else if (next.extension() == ".rs") {
        follow_includes(next);
      }
    }
    return {files_.begin(), files_.end()};
  }

 private:
  /// The crate and the op folders beside it.
  void add_crate(const fs::path& crate) {
    add_tree(crate);
    std::error_code error;
    for (fs::directory_iterator entry(crate.parent_path(), error); !error && entry != fs::directory_iterator();
         entry.increment(error)) {
      if (entry->path().filename().string().ends_with("_kernel") && entry->is_directory(error)) {
        add_tree(entry->path());
      }
    }
  }

  /// The crate that a file belongs to: an op's file outside of any is included by the root.
  [[nodiscard]] fs::path crate_of(const fs::path& file) const;
  void follow_dependencies(const fs::path& manifest);
  void follow_includes(const fs::path& from);

  fs::path root_;
  std::set<fs::path> files_;
  std::vector<fs::path> unread_;
};

std::string_view after_spaces(std::string_view text, std::string_view spaces) {
  return text.substr(std::min(text.find_first_not_of(spaces), text.size()));
}

/// Takes the string literal that the text starts with; nothing where it starts with something else.
std::optional<std::string> take_literal(std::string_view& text) {
  const std::size_t close = text.starts_with('"') ? text.find('"', 1) : std::string_view::npos;
  if (close == std::string_view::npos) {
    return std::nullopt;
  }
  std::string literal(text.substr(1, close - 1));
  text.remove_prefix(close + 1);
  return literal;
}

/// The path that an inclusion names: a literal, relative to its file, or one behind the crate's own folder, as in
/// `concat!(env!("CARGO_MANIFEST_DIR"), "/../x.rs")`.
std::optional<fs::path> included_path(std::string_view text, const fs::path& folder, const fs::path& crate) {
  constexpr std::string_view kBetween = " \t\r\n([{=";
  text = after_spaces(text, kBetween);
  constexpr std::string_view kConcat = "concat!";
  if (!text.starts_with(kConcat)) {
    const std::optional<std::string> literal = take_literal(text);
    return literal ? std::optional(folder / *literal) : std::nullopt;
  }
  text = after_spaces(text.substr(kConcat.size()), kBetween);
  if (!text.starts_with("env!")) {
    return std::nullopt;
  }
  text = after_spaces(text.substr(4), kBetween);
  if (take_literal(text) != "CARGO_MANIFEST_DIR") {
    return std::nullopt;
  }
  text = after_spaces(text, " \t\r\n),");
  const std::optional<std::string> rest = take_literal(text);
  return rest ? std::optional(fs::path(crate.string() + *rest)) : std::nullopt;
}

template <class Use>
void each_after(std::string_view text, std::string_view marker, Use use) {
  for (std::size_t at = text.find(marker); at != std::string_view::npos; at = text.find(marker, at)) {
    at += marker.size();
    use(text.substr(at));
  }
}

fs::path Sources::crate_of(const fs::path& file) const {
  for (fs::path folder = file.parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
    if (files_.contains(folder / "Cargo.toml")) {
      return folder;
    }
  }
  return root_;
}

void Sources::follow_includes(const fs::path& from) {
  constexpr std::array<std::string_view, 4> kMarkers{"include!", "include_str!", "include_bytes!", "#[path"};
  const std::string text = read_file(from);
  for (const std::string_view marker : kMarkers) {
    each_after(text, marker, [&](std::string_view rest) {
      if (const auto path = included_path(rest, from.parent_path(), crate_of(from))) {
        add_file(*path);
      }
    });
  }
}

/// Crates that a manifest takes from a folder: `name = { path = "../name" }`. A path of another meaning has no
/// manifest.
void Sources::follow_dependencies(const fs::path& manifest) {
  const std::string text = read_file(manifest);
  each_after(text, "path", [&](std::string_view rest) {
    const auto path = included_path(rest, manifest.parent_path(), {});
    std::error_code error;
    if (path && fs::is_regular_file(*path / "Cargo.toml", error)) {
      add_tree(path->lexically_normal());
    }
  });
}

}  // namespace

Result<std::vector<fs::path>> source_files(const fs::path& given) {
  std::error_code error;
  const fs::path crate = fs::absolute(given, error).lexically_normal();
  if (!fs::is_regular_file(crate / "Cargo.toml", error)) {
    return Error{"kernel sources: wanted a crate folder with Cargo.toml, got '" + given.string() +
                 "'; set CUTILE_RS_KERNELS_DIR to the cutile_kernels folder, or unset it"};
  }
  return Sources(crate).followed();
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

std::string build_fingerprint(std::string_view source_fingerprint, std::string_view rustc_version,
                              std::string_view options) {
  return Sha256().update(source_fingerprint).update("\n").update(rustc_version).update("\n").update(options).hex();
}

}  // namespace tilegym::runtime
