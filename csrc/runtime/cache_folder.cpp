#include "runtime/cache_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

#include "runtime/log.h"
#include "runtime/settings.h"
#include "runtime/trust.h"

namespace tilegym::runtime {
namespace {

namespace fs = std::filesystem;

constexpr auto kForeignWrite = fs::perms::others_write;

/// Makes a folder and those above it, none of which others may write, whatever the umask.
std::error_code make_folders(const fs::path& folder) {
  std::error_code error;
  if (fs::is_directory(folder, error)) {
    return {};
  }
  if (folder.has_relative_path()) {
    if (error = make_folders(folder.parent_path()); error) {
      return error;
    }
  }
  const bool made = mkdir(folder.c_str(), 0755) == 0 || (errno == EEXIST && fs::is_directory(folder, error));
  return made ? std::error_code() : std::error_code(errno, std::generic_category());
}

bool make_writable(const fs::path& folder) {
  return !make_folders(folder) && access(folder.c_str(), W_OK | X_OK) == 0;
}

/// A folder that is not there is nothing to be afraid of.
bool is_trusted(const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder, error)) {
    return true;
  }
  const Status trusted = check_trusted_folder("cache folder", folder);
  if (!trusted) {
    log_once(LogLevel::warning, trusted.error().message + "; it is not used");
  }
  return trusted.ok();
}

Result<std::vector<fs::path>> preferred_folders() {
  TILEGYM_ASSIGN(const std::string setting, read_text("cache_dir"));
  std::vector<fs::path> folders;
  if (!setting.empty()) {
    folders.emplace_back(fs::absolute(setting));
  }
  const char* root = std::getenv("XDG_CACHE_HOME");
  if (root != nullptr && *root == '/') {
    folders.push_back(fs::path(root) / "tilegym");
  } else if (const fs::path home = home_folder(); !home.empty()) {
    folders.push_back(home / ".cache" / "tilegym");
  }
  return folders;
}

/// A folder that is ours and closed to others. Anybody may have made the name before us in a shared folder.
bool is_private(const fs::path& folder) {
  struct stat entry{};
  return lstat(folder.c_str(), &entry) == 0 && S_ISDIR(entry.st_mode) && entry.st_uid == geteuid() &&
         (entry.st_mode & 077) == 0;
}

Result<fs::path> make_temporary_folder() {
  std::error_code error;
  const fs::path root = fs::temp_directory_path(error);
  const fs::path named = root / ("tilegym-" + std::to_string(geteuid()));
  mkdir(named.c_str(), 0700);
  if (is_private(named)) {
    return named;
  }
  std::string pattern = named.string() + "-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) {
    return Error{"cache folder: wanted a private folder in " + root.string() + ", got: " + std::strerror(errno) +
                 "; set TILEGYM_RS_CACHE_DIR to a folder that can be written"};
  }
  return fs::path(pattern);
}

const Result<fs::path>& temporary_folder() {
  static const Result<fs::path> folder = make_temporary_folder();
  return folder;
}

/// A name beside `path` that no other thread or process uses.
fs::path temporary_beside(const fs::path& path) {
  static std::atomic<unsigned> count{0};
  return path.parent_path() /
         ("." + path.filename().string() + "." + std::to_string(getpid()) + "." + std::to_string(count.fetch_add(1)));
}

Status move_into_place(const fs::path& temporary, const fs::path& path, std::error_code error) {
  if (!error) {
    fs::permissions(temporary, kForeignWrite, fs::perm_options::remove, error);
  }
  if (!error) {
    fs::rename(temporary, path, error);
  }
  if (!error) {
    return {};
  }
  std::error_code ignored;
  fs::remove(temporary, ignored);
  return Error{path.string() + ": cannot be written: " + error.message() +
               "; make room there, or name another folder by TILEGYM_RS_CACHE_DIR"};
}

void warn_of_fallback(const std::vector<fs::path>& folders) {
  if (folders.size() > 1) {
    log_once(LogLevel::warning, "cache folder " + folders.front().string() + " cannot be written; using " +
                                    folders.back().string() + " (TILEGYM_RS_CACHE_DIR names another)");
  }
}

}  // namespace

Result<std::vector<fs::path>> cache_folders() {
  TILEGYM_ASSIGN(const std::vector<fs::path> preferred, preferred_folders());
  std::vector<fs::path> folders;
  for (const fs::path& folder : preferred) {
    const bool writable = make_writable(folder);
    if (!is_trusted(folder)) {
      continue;
    }
    folders.push_back(folder);
    if (writable) {
      warn_of_fallback(folders);
      return folders;
    }
  }
  TILEGYM_ASSIGN(const fs::path temporary, temporary_folder());
  folders.push_back(temporary);
  warn_of_fallback(folders);
  return folders;
}

std::optional<fs::path> find_cached(const std::vector<fs::path>& folders, const fs::path& name) {
  for (const fs::path& folder : folders) {
    std::error_code error;
    if (fs::is_regular_file(folder / name, error)) {
      return folder / name;
    }
  }
  return std::nullopt;
}

Status publish_file(const fs::path& path, const std::string& text) {
  const fs::path temporary = temporary_beside(path);
  std::error_code error = make_folders(path.parent_path());
  if (!error) {
    std::ofstream stream(temporary, std::ios::binary);
    stream << text;
    stream.close();
    if (!stream) error = {errno, std::generic_category()};
  }
  return move_into_place(temporary, path, error);
}

Status publish_copy(const fs::path& source, const fs::path& path) {
  std::ifstream original(source, std::ios::binary);
  std::ostringstream text;
  text << original.rdbuf();
  if (!original || !text) return Error{source.string() + ": cannot be read: " + std::strerror(errno)};
  // Not std::filesystem::copy_file, which calls a full disk an input or output error; nor from stream to stream, which
  // takes half a file for a success.
  return publish_file(path, std::move(text).str());
}

}  // namespace tilegym::runtime
