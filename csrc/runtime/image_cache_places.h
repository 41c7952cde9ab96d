#pragma once

#include <filesystem>
#include <optional>
#include <vector>

/// Folders of the cache of compiled kernels, by the settings as they are now. Entries lie in `images` below each.
namespace tilegym::runtime {

struct CachePlaces {
  bool lookups = false;                         ///< false: every kernel is compiled anew
  std::vector<std::filesystem::path> read;      ///< in order: the cache folders, then the seeds
  std::optional<std::filesystem::path> write;   ///< where entries are stored; none where the cache is off
  std::optional<std::filesystem::path> record;  ///< gets a copy of every image that is used
  [[nodiscard]] bool in_use() const { return lookups || write || record; }
};

/// A bad setting or the lack of any folder is said once, as a warning, and leaves the cache off.
CachePlaces cache_places();

/// The folder of entries in a cache folder.
std::filesystem::path images_in(const std::filesystem::path& root);

}  // namespace tilegym::runtime
