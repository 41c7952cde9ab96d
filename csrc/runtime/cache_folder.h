#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"

/// Where things that survive the process are kept: the folder of the setting cache_dir, else the user's
/// ($XDG_CACHE_HOME/tilegym, else ~/.cache/tilegym), else a temporary folder that only this user can enter.
namespace tilegym::runtime {

/// The folders to look into, in order: from the preferred one to the first that can be written. The last one is the
/// folder to write to. Creates it; falling back is said once, as a warning that names the folder tried. A folder that
/// other users can write (trust.h) is passed over with a warning, too. Error: not even a temporary folder can be made,
/// or the setting is bad.
Result<std::vector<std::filesystem::path>> cache_folders();

/// The first folder that holds `name`, as the full path.
std::optional<std::filesystem::path> find_cached(const std::vector<std::filesystem::path>& folders,
                                                 const std::filesystem::path& name);

/// Writes a file so that readers see either the whole of it or nothing: a temporary file beside it, then a rename.
Status publish_file(const std::filesystem::path& path, const std::string& text);
Status publish_copy(const std::filesystem::path& source, const std::filesystem::path& path);

}  // namespace tilegym::runtime
