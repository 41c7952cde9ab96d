#include "runtime/image_cache_counters.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>

#include "runtime/pipe.h"

namespace tilegym::runtime {
namespace {

namespace fs = std::filesystem;
constexpr std::array<std::string_view, kCacheEvents> kNames{"hits",   "misses",    "stored",    "evicted",
                                                            "broken", "untrusted", "unwritable"};
constexpr const char* kTotalsName = "cache-totals";

std::array<std::atomic<std::uint64_t>, kCacheEvents> counts{};

// Plain memory, not objects with destructors: they are used while the process ends.
std::mutex& root_mutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}
fs::path& root_of_totals() {
  static auto* const root = new fs::path;
  return *root;
}

/// The numbers of a totals file: one for each event, in order. What is missing or no number is zero.
CacheCounts parse(const std::string& text) {
  CacheCounts totals{};
  const char* rest = text.c_str();
  for (std::uint64_t& total : totals) {
    char* end = nullptr;
    total = std::strtoull(rest, &end, 10);
    rest = end;
  }
  return totals;
}

std::string format(const CacheCounts& totals) {
  std::string text;
  for (const std::uint64_t total : totals) {
    text += std::to_string(total) + " ";
  }
  return text + "\n";
}

CacheCounts read_totals(int file) {
  std::string text(256, '\0');
  const ssize_t size = pread(file, text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return parse(text);
}

void write_totals(int file, const CacheCounts& totals) {
  const std::string text = format(totals);
  if (pwrite(file, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size())) {
    [[maybe_unused]] const int cut = ftruncate(file, static_cast<off_t>(text.size()));
  }
}

void add_to_totals(const fs::path& root, const CacheCounts& added) {
  const Descriptor file(open((root / kTotalsName).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  // Held for two small file operations, and dropped by the kernel when its holder dies.
  if (file.get() < 0 || flock(file.get(), LOCK_EX) != 0) {
    return;  // only statistics are lost
  }
  CacheCounts totals = read_totals(file.get());
  for (std::size_t i = 0; i < kCacheEvents; ++i) {
    totals[i] += added[i];
  }
  write_totals(file.get(), totals);
}

void reset() {
  for (auto& each : counts) {
    each = 0;
  }
}

void flush() {
  const CacheCounts own = cache_counts();
  const std::scoped_lock lock(root_mutex());
  if (!root_of_totals().empty() && own != CacheCounts{}) {
    add_to_totals(root_of_totals(), own);
  }
}

}  // namespace

std::string_view name_of(CacheEvent event) {
  return kNames.at(static_cast<std::size_t>(event));
}

void count(CacheEvent event) {
  counts.at(static_cast<std::size_t>(event)).fetch_add(1, std::memory_order_relaxed);
}

CacheCounts cache_counts() {
  CacheCounts result{};
  for (std::size_t i = 0; i < kCacheEvents; ++i) {
    result[i] = counts[i].load(std::memory_order_relaxed);
  }
  return result;
}

CacheCounts cache_totals(const fs::path& root) {
  const Descriptor file(open((root / kTotalsName).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  return file.get() < 0 ? CacheCounts{} : read_totals(file.get());
}

void add_to_totals_at_exit(const fs::path& root) {
  static const bool registered [[maybe_unused]] = [] {
    pthread_atfork(nullptr, nullptr, reset);
    return std::atexit(flush) == 0;
  }();
  const std::scoped_lock lock(root_mutex());
  root_of_totals() = root;
}

void forget_cache_totals(const fs::path& root) {
  unlink((root / kTotalsName).c_str());
}

}  // namespace tilegym::runtime
