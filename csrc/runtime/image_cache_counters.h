#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string_view>

/// What the cache of compiled kernels has done: in this process, and, in a file of the cache folder, in all that ended.
namespace tilegym::runtime {

enum class CacheEvent { hit, miss, stored, evicted, broken, untrusted, unwritable };
inline constexpr std::size_t kCacheEvents = 7;

/// Counts, by CacheEvent.
using CacheCounts = std::array<std::uint64_t, kCacheEvents>;

/// "hits", "misses", "stored" and so on.
std::string_view name_of(CacheEvent event);

void count(CacheEvent event);

/// Events of this process; a forked child starts at zero.
CacheCounts cache_counts();

/// Events of all processes that have ended and could write into this cache folder.
CacheCounts cache_totals(const std::filesystem::path& root);

/// Names the cache folder whose totals get this process's counts when it ends.
void add_to_totals_at_exit(const std::filesystem::path& root);

/// Forgets the totals of a cache folder.
void forget_cache_totals(const std::filesystem::path& root);

}  // namespace tilegym::runtime
