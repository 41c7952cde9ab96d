#pragma once

#include <cstdint>
#include <filesystem>

/// Keeps what builds leave in the cache folder within a limit: libraries (kernels/<fingerprint>), cargo's target folder
/// and logs.
namespace tilegym::runtime {

/// Marks an entry of the cache as used now.
void mark_used(const std::filesystem::path& entry);

/// Removes the least recently used entries until all of them together fit into `limit` bytes, and what killed processes
/// have left unfinished. `kept` stays, whatever its size; so do libraries used within the last minutes, which a process
/// may be about to load, and a target folder that a cargo is working in. Returns the bytes removed. To be called under
/// the lock on builds.
std::uintmax_t sweep_builds(const std::filesystem::path& cache, std::uintmax_t limit,
                            const std::filesystem::path& kept);

}  // namespace tilegym::runtime
