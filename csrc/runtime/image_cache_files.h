#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

/// The cache's files, one at a time.
namespace tilegym::runtime {

enum class ReadOutcome {
  found,
  missing,
  broken,     ///< no regular file, or one that cannot be read
  untrusted,  ///< may have been written by somebody else
};

struct FileRead {
  ReadOutcome outcome = ReadOutcome::missing;
  std::string bytes{};   ///< where found
  std::string reason{};  ///< where broken or untrusted
};

/// Reads a whole file and marks it as used just now, where that is allowed.
FileRead read_cache_file(const std::filesystem::path& path);

/// Writes a file so that readers see either the whole of it or what was there before; a folder in its place goes.
/// Makes the folders above it. Nothing is left behind on failure.
Status write_cache_file(const std::filesystem::path& path, const std::string& bytes);

struct CacheFile {
  std::filesystem::path path;
  std::int64_t size = 0;
  std::int64_t used = 0;  ///< nanoseconds since 1970
};

/// Every file below a folder, the least recently used first. Removes the temporary files that ended processes have
/// left.
std::vector<CacheFile> list_cache_files(const std::filesystem::path& folder);

}  // namespace tilegym::runtime
