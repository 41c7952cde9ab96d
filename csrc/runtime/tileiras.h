#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "common/result.h"

/// The compiler from Tile IR bytecode to cubins: which one, and what tells it from others.
namespace tilegym::runtime {

/// A text in every binary of our caching front (csrc/programs), by which it is told from a compiler.
inline constexpr const char* kFrontMarker = "tilegym-rs caching front of tileiras";

struct Tileiras {
  std::filesystem::path path;
  std::string version;   ///< "release 13.5, V13.5.37", or what else it says of itself
  std::string identity;  ///< text that differs between compilers that may differ in their output
};

/// The compiler of the setting `tileiras`, else of `tileiras_behind`, else the first one found: in the folders of
/// add_tileiras_folder(), on PATH, in the toolkit. A caching front of ours is passed over wherever it stands.
/// Error: there is none; the text names the places.
Result<Tileiras> find_tileiras();

/// A folder to look into before PATH, such as that of a wheel.
void add_tileiras_folder(const std::filesystem::path& folder);

}  // namespace tilegym::runtime
