#pragma once

#include <filesystem>
#include <string_view>

#include "runtime/tileiras.h"

namespace tilegym::runtime {

/// What a compiler says of itself, its size and those of the programs it calls, and, where it is small (a script), its
/// content. Found out once for a file as it is; kept in memory and in the cache.
Tileiras identify_tileiras(const std::filesystem::path& path);

/// Whether a file's bytes hold a text.
bool file_holds(const std::filesystem::path& path, std::string_view text);

}  // namespace tilegym::runtime
