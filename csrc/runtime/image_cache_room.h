#pragma once

#include <cstdint>
#include <filesystem>

namespace tilegym::runtime {

/// Called after `added` bytes were stored in a cache folder: keeps what lies there below the setting cache_max (0: no
/// limit) by removing the files that were not used for the longest time. Looks at the folder at the first call, and
/// then only when the limit may have been passed.
void make_room(const std::filesystem::path& root, std::int64_t added);

}  // namespace tilegym::runtime
