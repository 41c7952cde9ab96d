#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "runtime/image_cache_entry.h"

/// Compiled kernels on disk. Reading and storing never fail: what cannot be read or written is counted, said once as a
/// warning, and compiled. Every function may be called from any thread.
namespace tilegym::runtime {

/// Payload of the entry with this name, from the first folder that has a good one.
std::optional<std::string> find_image(const std::string& name);

/// The same for the newest entry whose name begins with `stem` and ends with `suffix`.
std::optional<std::string> find_similar_image(const std::string& stem, std::string_view suffix);

/// Stores an entry, then evicts the least recently used ones beyond the setting cache_max.
void store_image(const CacheEntry& entry);

/// As find_image and store_image, uncounted: small facts that save time.
std::optional<std::string> find_note(const std::string& name);
void store_note(const CacheEntry& entry);

/// What is to be told of a cache.
struct CacheContents {
  std::vector<std::filesystem::path> folders;  ///< read in this order
  std::filesystem::path written;               ///< empty where nothing is written
  std::uint64_t entries = 0;                   ///< in the folder that is written
  std::uint64_t bytes = 0;
};
CacheContents cache_contents();

/// The good entries of all folders that are read whose names end with `suffix`, by name; the first folder with a name
/// decides.
std::vector<CacheEntry> all_entries(std::string_view suffix = {});
/// The good entries of one folder of entries.
std::vector<CacheEntry> entries_in(const std::filesystem::path& folder, std::string_view suffix = {});

/// Stores an entry that comes from elsewhere. Error: the bytes are no good entry, or the cache cannot be written.
Result<std::string> import_entry(std::string_view bytes);

/// Removes one entry from the folder that is written; false where there is none of this name.
bool remove_entry(const std::string& name);

/// Removes every entry and every kept bytecode from the folder that is written; returns how many files.
std::uint64_t clear_cache();

/// Keeps bytecode that a compiler refused, for a look at it; returns its path, or an empty one.
std::filesystem::path keep_failed(const std::string& title, const std::string& bytecode);

}  // namespace tilegym::runtime
