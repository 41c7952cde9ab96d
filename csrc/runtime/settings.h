#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "common/result.h"

/// One table of settings. A value comes from the environment, else the project's tilegym-rs.toml (the nearest one at or
/// above the working directory), else the user's ($XDG_CONFIG_HOME/tilegym, else ~/.config/tilegym), else the default.
/// The environment is read at every call, so a changed variable takes effect at once; files are read once per process.
namespace tilegym::runtime {

enum class SettingKind {
  flag,     ///< 1/0, true/false, on/off, yes/no; canonical text "1" or "0"
  integer,  ///< decimal, not negative
  bytes,    ///< decimal with an optional K, M, G or T (powers of 1024); canonical text in bytes
  choice,   ///< one of SettingRow::choices
  text,
  path,  ///< a leading "~/" is the home folder; in a file, relative to that file's folder
};

struct SettingRow {
  std::string_view key;       ///< name in tilegym-rs.toml, in C++ and in Python
  std::string_view variable;  ///< environment variable
  std::string_view alias;     ///< second variable, read when the first is unset; "" for none
  SettingKind kind;
  std::string_view default_text;  ///< canonical
  std::string_view choices;       ///< choice: accepted words, separated by '|'
  std::string_view doc;           ///< one line
};

enum class SettingOrigin { environment, project_file, user_file, built_in };

struct Setting {
  const SettingRow* row = nullptr;
  std::string text;  ///< canonical text of the value
  SettingOrigin origin = SettingOrigin::built_in;
  std::string place;  ///< the variable or the file it came from; "" for a default
};

/// Every setting there is.
std::span<const SettingRow> setting_rows();

/// "environment", "project file", "user file" or "default".
std::string_view name_of(SettingOrigin origin);

/// Reads a setting by key or variable. Errors: an unknown name; a value that its kind does not take (the text names the
/// place, what was wanted and what was got); a settings file that cannot be parsed or holds an unknown key.
/// Thread-safe, provided that nobody changes the environment at the same time.
Result<Setting> read_setting(std::string_view name);

/// What read_setting would give for `name`, a variable, if the environment held `value` for it, or nothing.
Result<Setting> setting_if(std::string_view name, std::optional<std::string_view> value);

/// Remembers the value of a setting as taken up for good, which ends with `until`, such as "the next process".
/// Error: as read_setting.
Status hold_setting(std::string_view name, std::string_view until);

/// What to tell a user who is about to give `variable` another value, or none, than the one that is held: the value in
/// force and how long it stays. Empty where the change takes effect, or changes nothing.
std::string late_change(std::string_view variable, std::optional<std::string_view> value);

Result<bool> read_flag(std::string_view name);
Result<std::int64_t> read_integer(std::string_view name);  ///< kinds integer and bytes
Result<std::string> read_text(std::string_view name);      ///< canonical text of any kind

/// Forgets the settings files; the next read finds them anew.
void forget_setting_files();

/// Home folder: $HOME, else the user database; empty where there is neither.
std::filesystem::path home_folder();

}  // namespace tilegym::runtime
