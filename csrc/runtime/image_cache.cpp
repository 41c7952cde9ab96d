#include "runtime/image_cache.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>

#include "runtime/image_cache_counters.h"
#include "runtime/image_cache_files.h"
#include "runtime/image_cache_places.h"
#include "runtime/image_cache_room.h"
#include "runtime/log.h"
#include "runtime/sha256.h"

namespace tilegym::runtime {
namespace {

namespace fs = std::filesystem;
constexpr const char* kFailed = "failed";

void warn(const std::string& text) {
  log_once(LogLevel::warning, text);
}

/// A full disk refuses every entry, for the same reason: the first one stands for all.
void warn_once_of(const fs::path& root, const std::string& reason) {
  static std::mutex mutex;
  static std::set<fs::path> told;
  const std::scoped_lock lock(mutex);
  if (told.insert(root).second) {
    warn("cache of compiled kernels: what does not fit is compiled anew each time: " + reason);
  }
}

/// The entry in a file, where it is the one its place says. Anything else is counted and said.
std::optional<CacheEntry> read_entry(const fs::path& path, std::string_view name) {
  FileRead file = read_cache_file(path);
  if (file.outcome == ReadOutcome::missing) {
    return std::nullopt;
  }
  if (file.outcome == ReadOutcome::untrusted) {
    count(CacheEvent::untrusted);
    warn(file.reason + "; it is not used");
    return std::nullopt;
  }
  if (file.outcome == ReadOutcome::found) {
    Result<CacheEntry> entry = decode_entry(file.bytes);
    if (entry.ok() && entry.value().name == name) {
      return std::move(entry).value();
    }
    file.reason = entry.ok() ? "it belongs to another kernel" : entry.error().message;
  }
  count(CacheEvent::broken);
  warn("cache entry " + path.string() + " is broken and not used: " + file.reason);
  return std::nullopt;
}

std::optional<CacheEntry> find_entry(const CachePlaces& places, const std::string& name) {
  if (!places.lookups) {
    return std::nullopt;
  }
  for (const fs::path& root : places.read) {
    if (std::optional<CacheEntry> entry = read_entry(images_in(root) / name, name)) {
      return entry;
    }
  }
  return std::nullopt;
}

void record_entry(const CachePlaces& places, const CacheEntry& entry) {
  if (!places.record) {
    return;
  }
  const Status written = write_cache_file(images_in(*places.record) / entry.name, encode_entry(entry));
  if (!written) {
    warn("record of compiled kernels: " + written.error().message);
  }
}

std::optional<std::string> count_lookup(const CachePlaces& places, std::optional<CacheEntry> entry) {
  if (!places.in_use()) {
    return std::nullopt;
  }
  if (places.write) {
    add_to_totals_at_exit(*places.write);
  }
  count(entry ? CacheEvent::hit : CacheEvent::miss);
  if (!entry) {
    return std::nullopt;
  }
  record_entry(places, *entry);
  return std::move(entry->payload);
}

/// Names of the entries in a folder that fit, the newest first.
std::vector<std::string> similar_names(const fs::path& images, const std::string& stem, std::string_view suffix) {
  std::vector<CacheFile> files = list_cache_files(images / fs::path(stem).parent_path());
  std::vector<std::string> names;
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    const std::string name = (fs::path(stem).parent_path() / file->path.filename()).string();
    if (name.starts_with(stem) && name.ends_with(suffix)) {
      names.push_back(name);
    }
  }
  return names;
}

std::optional<CacheEntry> find_similar_entry(const CachePlaces& places, const std::string& stem,
                                             std::string_view suffix) {
  if (!places.lookups) {
    return std::nullopt;
  }
  for (const fs::path& root : places.read) {
    for (const std::string& name : similar_names(images_in(root), stem, suffix)) {
      if (std::optional<CacheEntry> entry = read_entry(images_in(root) / name, name)) {
        return entry;
      }
    }
  }
  return std::nullopt;
}

Status write_entry(const fs::path& root, const CacheEntry& entry) {
  const std::string bytes = encode_entry(entry);
  TILEGYM_TRY(write_cache_file(images_in(root) / entry.name, bytes));
  make_room(root, static_cast<std::int64_t>(bytes.size()));
  return {};
}

/// A file name of letters, digits and a few signs.
std::string as_file_name(std::string text) {
  for (char& c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
    c = plain ? c : '-';
  }
  return text.substr(0, 80);
}

/// Where the cache cannot hold it: a folder of its own below the one for temporary files.
fs::path keep_elsewhere(const fs::path& name, const std::string& bytecode) {
  std::error_code error;
  std::string pattern = (fs::temp_directory_path(error) / "tilegym-failed-XXXXXX").string();
  if (error || mkdtemp(pattern.data()) == nullptr) {
    return {};
  }
  const fs::path path = fs::path(pattern) / name;
  return write_cache_file(path, bytecode).ok() ? path : fs::path();
}

}  // namespace

std::optional<std::string> find_image(const std::string& name) {
  const CachePlaces places = cache_places();
  return count_lookup(places, find_entry(places, name));
}

std::optional<std::string> find_similar_image(const std::string& stem, std::string_view suffix) {
  const CachePlaces places = cache_places();
  return count_lookup(places, find_similar_entry(places, stem, suffix));
}

void store_image(const CacheEntry& entry) {
  const CachePlaces places = cache_places();
  record_entry(places, entry);
  if (!places.write) {
    return;
  }
  add_to_totals_at_exit(*places.write);
  if (const Status written = write_entry(*places.write, entry); written.ok()) {
    count(CacheEvent::stored);
  } else {
    count(CacheEvent::unwritable);
    warn_once_of(*places.write, written.error().message);
  }
}

std::optional<std::string> find_note(const std::string& name) {
  std::optional<CacheEntry> entry = find_entry(cache_places(), name);
  return entry ? std::optional(std::move(entry->payload)) : std::nullopt;
}

void store_note(const CacheEntry& entry) {
  if (const CachePlaces places = cache_places(); places.write) {
    const Status ignored = write_entry(*places.write, entry);  // it is found out again
  }
}

CacheContents cache_contents() {
  const CachePlaces places = cache_places();
  CacheContents contents{places.read, places.write.value_or(fs::path()), 0, 0};
  if (places.write) {
    for (const CacheFile& file : list_cache_files(images_in(*places.write))) {
      ++contents.entries;
      contents.bytes += static_cast<std::uint64_t>(file.size);
    }
  }
  return contents;
}

std::vector<CacheEntry> entries_in(const fs::path& folder, std::string_view suffix) {
  std::vector<CacheEntry> entries;
  for (const CacheFile& file : list_cache_files(folder)) {
    const std::string name = (file.path.parent_path().filename() / file.path.filename()).string();
    if (!name.ends_with(suffix)) {
      continue;
    }
    if (std::optional<CacheEntry> entry = read_entry(file.path, name)) {
      entries.push_back(*std::move(entry));
    }
  }
  return entries;
}

std::vector<CacheEntry> all_entries(std::string_view suffix) {
  std::map<std::string, CacheEntry> by_name;
  for (const fs::path& root : cache_places().read) {
    for (CacheEntry& entry : entries_in(images_in(root), suffix)) {
      std::string name = entry.name;
      by_name.emplace(std::move(name), std::move(entry));
    }
  }
  std::vector<CacheEntry> entries;
  for (auto& [name, entry] : by_name) {
    entries.push_back(std::move(entry));
  }
  return entries;
}

Result<std::string> import_entry(std::string_view bytes) {
  TILEGYM_ASSIGN(const CacheEntry entry, decode_entry(bytes));
  const CachePlaces places = cache_places();
  if (!places.write) {
    return Error{
        "cache of compiled kernels: wanted a folder to write to, but the cache is off; unset TILEGYM_RS_CACHE"};
  }
  TILEGYM_TRY(write_entry(*places.write, entry));
  return entry.name;
}

bool remove_entry(const std::string& name) {
  const CachePlaces places = cache_places();
  std::error_code ignored;
  return places.write && is_entry_name(name) && fs::remove(images_in(*places.write) / name, ignored);
}

std::uint64_t clear_cache() {
  const CachePlaces places = cache_places();
  if (!places.write) {
    return 0;
  }
  std::uint64_t removed = 0;
  for (const fs::path& folder : {images_in(*places.write), *places.write / kFailed}) {
    removed += list_cache_files(folder).size();
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  }
  forget_cache_totals(*places.write);
  return removed;
}

fs::path keep_failed(const std::string& title, const std::string& bytecode) {
  const std::string digest = Sha256().update(bytecode).hex().substr(0, 12);
  const fs::path name = as_file_name(title) + "-" + digest + ".tileirbc";
  if (const CachePlaces places = cache_places(); places.write) {
    const fs::path path = *places.write / kFailed / name;
    if (write_cache_file(path, bytecode).ok()) {
      return path;
    }
  }
  return keep_elsewhere(name, bytecode);
}

}  // namespace tilegym::runtime
