#pragma once

#include <string>
#include <string_view>

#include "common/result.h"

/// A cache entry as bytes: header, name, description, payload, under one SHA-256 (docs/file-formats.md).
namespace tilegym::runtime {

struct CacheEntry {
  std::string name;         ///< place below the cache's folder; see is_entry_name()
  std::string description;  ///< lines of text that say what the payload was made from
  std::string payload;
};

std::string encode_entry(const CacheEntry& entry);

/// Error: the bytes are cut short, longer than they say, changed, or of another format version.
Result<CacheEntry> decode_entry(std::string_view bytes);

/// Name of the entry for a key: "ab/<62 hexadecimal digits>.<kind>", from the SHA-256 of the key.
std::string entry_name(std::string_view key, std::string_view kind);

/// Whether a text is such a name. Nothing else may become part of a path: names come from foreign files.
bool is_entry_name(std::string_view name);

}  // namespace tilegym::runtime
