#include "runtime/image_cache_room.h"

#include <unistd.h>

#include <map>
#include <mutex>
#include <vector>

#include "runtime/image_cache_counters.h"
#include "runtime/image_cache_files.h"
#include "runtime/image_cache_places.h"
#include "runtime/log.h"
#include "runtime/settings.h"

namespace tilegym::runtime {
namespace {

namespace fs = std::filesystem;
/// Other processes store, too: after so many of our own entries the folder is measured again.
constexpr int kStoresPerLook = 64;
/// A full cache is emptied a little below its limit, so that not every entry costs a look at all of them.
constexpr std::int64_t kKeptTenths = 9;

/// What this process believes of a folder.
struct Estimate {
  std::int64_t bytes = 0;
  int stores = kStoresPerLook;
};

std::int64_t total(const std::vector<CacheFile>& files) {
  std::int64_t bytes = 0;
  for (const CacheFile& file : files) {
    bytes += file.size;
  }
  return bytes;
}

/// Removes the oldest files until at most `kept` bytes are left; returns how many are.
std::int64_t evict(const std::vector<CacheFile>& files, std::int64_t bytes, std::int64_t kept) {
  for (const CacheFile& file : files) {
    if (bytes <= kept) {
      break;
    }
    if (unlink(file.path.c_str()) == 0) {
      count(CacheEvent::evicted);
    }
    bytes -= file.size;  // where it cannot be removed, somebody else has
  }
  return bytes;
}

std::int64_t measure(const fs::path& root, std::int64_t limit) {
  const std::vector<CacheFile> files = list_cache_files(images_in(root));
  const std::int64_t bytes = total(files);
  return bytes > limit ? evict(files, bytes, limit / 10 * kKeptTenths) : bytes;
}

}  // namespace

void make_room(const fs::path& root, std::int64_t added) {
  const Result<std::int64_t> limit = read_integer("cache_max");
  if (!limit) {
    return log_once(LogLevel::warning, limit.error().message);
  }
  if (limit.value() == 0) {
    return;
  }
  static std::mutex mutex;
  static std::map<fs::path, Estimate> estimates;
  const std::scoped_lock lock(mutex);
  Estimate& estimate = estimates[root];
  estimate.bytes += added;
  if (++estimate.stores > kStoresPerLook || estimate.bytes > limit.value()) {
    estimate = {measure(root, limit.value()), 0};
  }
}

}  // namespace tilegym::runtime
