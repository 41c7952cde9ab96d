#include "runtime/build_sweep.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace tilegym::runtime {
namespace {

namespace fs = std::filesystem;
using Time = fs::file_time_type;
constexpr std::chrono::minutes kAboutToBeLoaded{10};
constexpr std::chrono::hours kAbandoned{1};
constexpr const char* kRemoved = ".removed-";

struct Entry {
  fs::path path;
  Time used;
  std::uintmax_t bytes;
};

Time used_at(const fs::path& path) {
  std::error_code error;
  const Time time = fs::last_write_time(path, error);
  return error ? Time::min() : time;
}

/// Bytes of a file or a tree; what vanishes meanwhile counts as nothing.
std::uintmax_t size_of(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    const std::uintmax_t bytes = fs::file_size(path, error);
    return error ? 0 : bytes;
  }
  std::uintmax_t total = 0;
  fs::recursive_directory_iterator entry(path, fs::directory_options::skip_permission_denied, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    std::error_code gone;
    if (entry->is_regular_file(gone) && !entry->is_symlink(gone)) {
      const std::uintmax_t bytes = entry->file_size(gone);
      total += gone ? 0 : bytes;
    }
  }
  return total;
}

void add_entries_of(const fs::path& folder, std::vector<Entry>& entries) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    entries.push_back({entry->path(), used_at(entry->path()), size_of(entry->path())});
  }
}

std::vector<Entry> entries_of(const fs::path& cache) {
  std::vector<Entry> entries;
  add_entries_of(cache / "kernels", entries);
  add_entries_of(cache / "logs", entries);
  if (std::error_code error; fs::is_directory(cache / "target", error)) {
    entries.push_back({cache / "target", used_at(cache / "target"), size_of(cache / "target")});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  return entries;
}

/// Whether a process holds the lock of one of cargo's profiles; a developer's own cargo may use the folder as well.
bool cargo_works_in(const fs::path& target) {
  std::error_code error;
  for (fs::directory_iterator entry(target, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const int descriptor = open((entry->path() / ".cargo-lock").c_str(), O_RDWR | O_CLOEXEC);
    if (descriptor < 0) {
      continue;
    }
    const bool locked = flock(descriptor, LOCK_EX | LOCK_NB) != 0;
    close(descriptor);
    if (locked) {
      return true;
    }
  }
  return false;
}

bool may_go(const Entry& entry, const fs::path& cache, const fs::path& kept) {
  if (entry.path == kept) {
    return false;
  }
  if (entry.path == cache / "target") {
    return !cargo_works_in(entry.path);
  }
  return entry.used < Time::clock::now() - kAboutToBeLoaded;
}

/// Out of sight first: nobody finds a half of it, and what a kill leaves is known as rubbish.
bool remove_entry(const fs::path& path, const fs::path& cache) {
  const fs::path hidden = cache / (kRemoved + std::to_string(getpid()));
  std::error_code error;
  fs::remove_all(hidden, error);
  fs::rename(path, hidden, error);
  if (error) {
    return false;
  }
  fs::remove_all(hidden, error);
  return true;
}

/// Temporary files of publications begin with a dot (cache_folder.cpp).
void remove_abandoned(const fs::path& cache) {
  std::error_code error;
  std::vector<fs::path> folders{cache};
  for (fs::directory_iterator entry(cache / "kernels", error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    folders.push_back(entry->path());
  }
  for (const fs::path& folder : folders) {
    for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
         entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      const bool removed = name.starts_with(kRemoved);
      if (removed || (name.starts_with(".lib") && used_at(entry->path()) < Time::clock::now() - kAbandoned)) {
        std::error_code ignored;
        fs::remove_all(entry->path(), ignored);
      }
    }
  }
}

}  // namespace

void mark_used(const fs::path& entry) {
  std::error_code ignored;  // a read-only cache keeps no order of use
  fs::last_write_time(entry, Time::clock::now(), ignored);
}

std::uintmax_t sweep_builds(const fs::path& cache, std::uintmax_t limit, const fs::path& kept) {
  remove_abandoned(cache);
  const std::vector<Entry> entries = entries_of(cache);
  std::uintmax_t total = 0;
  for (const Entry& entry : entries) {
    total += entry.bytes;
  }
  std::uintmax_t removed = 0;
  for (const Entry& entry : entries) {
    if (total - removed <= limit) {
      break;
    }
    if (may_go(entry, cache, kept) && remove_entry(entry.path, cache)) {
      removed += entry.bytes;
    }
  }
  return removed;
}

}  // namespace tilegym::runtime
