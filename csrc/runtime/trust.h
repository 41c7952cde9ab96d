#pragma once

#include <filesystem>
#include <string_view>

#include "common/result.h"

/// What may be loaded into the process: only what nobody but this user, root and the owners named by the setting
/// trusted_owners could have put there.
namespace tilegym::runtime {

/// Whether a file and its folder, symbolic links followed, are ones that no other user can change.
/// `what` names the file's role in error texts, such as "kernel library". The error names the file or folder, its
/// fault (owner or mode) and the remedy. A file that is not there is an error, too.
Status check_trusted_file(std::string_view what, const std::filesystem::path& file);

/// The same for a folder that things are loaded from.
Status check_trusted_folder(std::string_view what, const std::filesystem::path& folder);

}  // namespace tilegym::runtime
