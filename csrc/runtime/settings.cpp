#include "runtime/settings.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include "runtime/settings_file.h"
#include "runtime/settings_table.h"

namespace tilegym::runtime {
namespace {

constexpr std::string_view kFileName = "tilegym-rs.toml";

std::string expand_path(std::string_view text, const std::filesystem::path& base) {
  if (text.starts_with("~/") || text == "~") {
    return (home_folder() / text.substr(std::min<std::size_t>(2, text.size()))).string();
  }
  return base.empty() ? std::string(text) : (base / text).lexically_normal().string();
}

Result<Setting> make_setting(const SettingRow& row, std::string_view raw, SettingOrigin origin, std::string_view place,
                             std::string_view subject) {
  std::optional<std::string> text = canonical_text(row, raw);
  if (!text) {
    return Error{std::string(subject) + ": wanted " + wanted_by(row) + ", got '" + std::string(raw) + "'"};
  }
  if (row.kind == SettingKind::path && !text->empty()) {
    const bool from_file = origin == SettingOrigin::project_file || origin == SettingOrigin::user_file;
    *text = expand_path(*text, from_file ? std::filesystem::path(place).parent_path() : "");
  }
  return Setting{&row, *std::move(text), origin, std::string(place)};
}

Status check_keys(const SettingsFile& file) {
  for (const auto& [key, value] : file.values) {
    const SettingRow* row = find_setting_row(key);
    if (row == nullptr || row->key != key) {
      std::string known;
      for (const SettingRow& each : setting_rows()) {
        known += (known.empty() ? "" : ", ") + std::string(each.key);
      }
      return Error{file.path.string() + ": wanted one of the keys " + known + "; got '" + key + "'"};
    }
  }
  return {};
}

Result<SettingsFile> load_file(const std::filesystem::path& path) {
  TILEGYM_ASSIGN(SettingsFile file, parse_settings_file(path));
  TILEGYM_TRY(check_keys(file));
  return file;
}

std::filesystem::path find_project_file() {
  std::error_code error;
  std::filesystem::path folder = std::filesystem::current_path(error);
  while (!error && !folder.empty()) {
    if (std::filesystem::is_regular_file(folder / kFileName, error)) {
      return folder / kFileName;
    }
    if (folder == folder.parent_path()) {
      break;
    }
    folder = folder.parent_path();
    error.clear();
  }
  return {};
}

std::filesystem::path find_user_file() {
  const char* config = std::getenv("XDG_CONFIG_HOME");
  const std::filesystem::path root =
      config != nullptr && *config != '\0' ? std::filesystem::path(config) : home_folder() / ".config";
  std::error_code error;
  const std::filesystem::path path = root / "tilegym" / kFileName;
  return std::filesystem::is_regular_file(path, error) ? path : std::filesystem::path();
}

struct FileSlot {
  SettingOrigin origin;
  std::filesystem::path (*find)();
  std::optional<Result<SettingsFile>> file;
};

struct Files {
  std::mutex mutex;
  std::array<FileSlot, 2> slots{{{SettingOrigin::project_file, find_project_file, std::nullopt},
                                 {SettingOrigin::user_file, find_user_file, std::nullopt}}};
};

Files& files() {
  static Files instance;
  return instance;
}

const Result<SettingsFile>& loaded(FileSlot& slot) {
  if (!slot.file) {
    const std::filesystem::path path = slot.find();
    slot.file = path.empty() ? Result<SettingsFile>(SettingsFile{}) : load_file(path);
  }
  return *slot.file;
}

using Variables = std::function<std::optional<std::string_view>(std::string_view variable)>;

std::optional<std::string_view> real_variable(std::string_view variable) {
  const char* value = std::getenv(std::string(variable).c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string_view>(value);
}

Result<std::optional<Setting>> from_environment(const SettingRow& row, const Variables& variables) {
  for (const std::string_view variable : {row.variable, row.alias}) {
    // An empty variable counts as unset: that is how shells and CI files switch one off.
    const std::string_view value = variable.empty() ? "" : variables(variable).value_or("");
    if (!value.empty()) {
      TILEGYM_ASSIGN(Setting setting, make_setting(row, value, SettingOrigin::environment, variable, variable));
      return std::optional(std::move(setting));
    }
  }
  return std::optional<Setting>();
}

Result<std::optional<Setting>> from_files(const SettingRow& row) {
  Files& all = files();
  const std::scoped_lock lock(all.mutex);
  for (FileSlot& slot : all.slots) {
    const Result<SettingsFile>& file = loaded(slot);
    if (!file) {
      return file.error();
    }
    const auto found = file.value().values.find(row.key);
    if (found != file.value().values.end()) {
      const std::string path = file.value().path.string();
      TILEGYM_ASSIGN(Setting setting,
                     make_setting(row, found->second, slot.origin, path, path + ": " + std::string(row.key)));
      return std::optional(std::move(setting));
    }
  }
  return std::optional<Setting>();
}

}  // namespace

std::string_view name_of(SettingOrigin origin) {
  constexpr std::array<std::string_view, 4> kNames{"environment", "project file", "user file", "default"};
  return kNames.at(static_cast<std::size_t>(origin));
}

namespace {

Result<Setting> find_setting(std::string_view name, const Variables& variables) {
  const SettingRow* row = find_setting_row(name);
  if (row == nullptr) {
    return Error{"setting: wanted a name that `tilegym-rs doctor` lists, got '" + std::string(name) + "'"};
  }
  TILEGYM_ASSIGN(std::optional<Setting> variable, from_environment(*row, variables));
  if (variable) {
    return *std::move(variable);
  }
  TILEGYM_ASSIGN(std::optional<Setting> filed, from_files(*row));
  if (filed) {
    return *std::move(filed);
  }
  return Setting{row, std::string(row->default_text), SettingOrigin::built_in, ""};
}

struct Held {
  std::string text;
  std::string until;
};

struct HeldSettings {
  std::mutex mutex;
  std::map<std::string_view, Held> by_key;
};

HeldSettings& held_settings() {
  static HeldSettings instance;
  return instance;
}

}  // namespace

Result<Setting> read_setting(std::string_view name) {
  return find_setting(name, real_variable);
}

Result<Setting> setting_if(std::string_view name, std::optional<std::string_view> value) {
  return find_setting(name,
                      [&](std::string_view variable) { return variable == name ? value : real_variable(variable); });
}

Status hold_setting(std::string_view name, std::string_view until) {
  TILEGYM_ASSIGN(Setting setting, read_setting(name));
  const std::scoped_lock lock(held_settings().mutex);
  held_settings().by_key[setting.row->key] = {std::move(setting.text), std::string(until)};
  return {};
}

std::string late_change(std::string_view variable, std::optional<std::string_view> value) {
  const SettingRow* row = find_setting_row(variable);
  if (row == nullptr) {
    return "";
  }
  const std::scoped_lock lock(held_settings().mutex);
  const auto held = held_settings().by_key.find(row->key);
  const Result<Setting> wanted = setting_if(variable, value);
  // A bad value is told where the setting is read.
  if (held == held_settings().by_key.end() || !wanted || wanted.value().text == held->second.text) {
    return "";
  }
  return std::string(variable) + ": changed to '" + wanted.value().text + "' when '" + held->second.text +
         "' was in use already, which stays in force until " + held->second.until;
}

Result<bool> read_flag(std::string_view name) {
  TILEGYM_ASSIGN(const Setting setting, read_setting(name));
  return setting.text == "1";
}

Result<std::int64_t> read_integer(std::string_view name) {
  TILEGYM_ASSIGN(const Setting setting, read_setting(name));
  const auto value = whole_number(setting.text);
  if (!value) {
    return Error{"setting " + std::string(name) + ": wanted one that holds a number, got '" + setting.text + "'"};
  }
  return *value;
}

Result<std::string> read_text(std::string_view name) {
  TILEGYM_ASSIGN(Setting setting, read_setting(name));
  return std::move(setting.text);
}

void forget_setting_files() {
  Files& all = files();
  const std::scoped_lock lock(all.mutex);
  for (FileSlot& slot : all.slots) {
    slot.file.reset();
  }
}

std::filesystem::path home_folder() {
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0') {
    return home;
  }
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  const int failed = getpwuid_r(getuid(), &entry, buffer.data(), buffer.size(), &found);
  return failed == 0 && found != nullptr ? std::filesystem::path(found->pw_dir) : std::filesystem::path();
}

}  // namespace tilegym::runtime
