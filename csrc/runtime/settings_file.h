#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "common/result.h"

namespace tilegym::runtime {

/// A parsed tilegym-rs.toml: top-level keys with their values as text, not yet checked against the table of settings.
struct SettingsFile {
  std::filesystem::path path;  ///< empty: there is no such file
  std::map<std::string, std::string, std::less<>> values;
};

/// Strings, integers and booleans are accepted. Errors name file, line and key.
Result<SettingsFile> parse_settings_file(const std::filesystem::path& path);

}  // namespace tilegym::runtime
