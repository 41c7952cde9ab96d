#include "runtime/image_cache_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "runtime/cache_folder.h"
#include "runtime/pipe.h"
#include "runtime/trust.h"

namespace tilegym::runtime {
namespace {

namespace fs = std::filesystem;
constexpr int kPublishAttempts = 3;
constexpr std::int64_t kNanoseconds = 1'000'000'000;
/// A file is written in far less; an older temporary one is what a killed process has left.
constexpr std::int64_t kTemporaryLife = 600 * kNanoseconds;

std::int64_t nanoseconds(const timespec& time) {
  return time.tv_sec * kNanoseconds + time.tv_nsec;
}

FileRead broken(std::string reason) {
  return {ReadOutcome::broken, {}, std::move(reason)};
}

bool read_all(int descriptor, std::string& bytes) {
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t size = read(descriptor, bytes.data() + filled, bytes.size() - filled);
    if (size < 0 && errno == EINTR) {
      continue;
    }
    if (size <= 0) {
      return false;
    }
    filled += static_cast<std::size_t>(size);
  }
  return true;
}

FileRead read_open(const fs::path& path, int descriptor) {
  struct stat entry{};
  if (fstat(descriptor, &entry) != 0 || !S_ISREG(entry.st_mode)) {
    return broken("it is no file");
  }
  if (const Status trusted = check_trusted_file("cache entry", path); !trusted) {
    return {ReadOutcome::untrusted, {}, trusted.error().message};
  }
  FileRead result{ReadOutcome::found, std::string(static_cast<std::size_t>(entry.st_size), '\0'), {}};
  if (!read_all(descriptor, result.bytes)) {
    return broken("it cannot be read to its end");
  }
  // Eviction goes by time of change: access times are not kept everywhere. Foreign and read-only files stay as they
  // are.
  futimens(descriptor, nullptr);
  return result;
}

/// Renaming a file over a folder fails, so the folder is moved aside first; its name begins as temporary files do.
void clear_folder(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(path, error))) {
    return;
  }
  const fs::path aside = path.parent_path() / ("." + path.filename().string() + "." + std::to_string(getpid()));
  fs::rename(path, aside, error);
  fs::remove_all(aside, error);
}

bool is_abandoned(const fs::path& path, std::int64_t changed) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return path.filename().native().starts_with('.') && nanoseconds(now) - changed > kTemporaryLife;
}

void add_file(const fs::path& path, std::vector<CacheFile>& files) {
  struct stat entry{};
  if (lstat(path.c_str(), &entry) != 0 || !S_ISREG(entry.st_mode)) {
    return;
  }
  const std::int64_t used = nanoseconds(entry.st_mtim);
  if (is_abandoned(path, used)) {
    unlink(path.c_str());
  } else {
    files.push_back({path, static_cast<std::int64_t>(entry.st_size), used});
  }
}

}  // namespace

FileRead read_cache_file(const fs::path& path) {
  // A pipe in the place of an entry must not block.
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() >= 0) {
    return read_open(path, file.get());
  }
  const bool missing = errno == ENOENT || errno == ENOTDIR;
  return missing ? FileRead{} : broken(std::string("it cannot be opened: ") + std::strerror(errno));
}

Status write_cache_file(const fs::path& path, const std::string& bytes) {
  // Somebody may remove the folder between any two steps.
  Status status;
  for (int attempt = 0; attempt < kPublishAttempts; ++attempt) {
    clear_folder(path);
    status = publish_file(path, bytes);
    if (status.ok()) {
      break;
    }
  }
  return status;
}

std::vector<CacheFile> list_cache_files(const fs::path& folder) {
  std::vector<CacheFile> files;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    add_file(entry->path(), files);
  }
  std::ranges::sort(files, {}, &CacheFile::used);
  return files;
}

}  // namespace tilegym::runtime
