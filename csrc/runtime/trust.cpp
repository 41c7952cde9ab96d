#include "runtime/trust.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include "runtime/settings.h"

namespace tilegym::runtime {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> user_name(uid_t user) {
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  const int failed = getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found);
  return failed == 0 && found != nullptr ? std::optional<std::string>(found->pw_name) : std::nullopt;
}

/// Whether the list of names and numbers, separated by commas, holds the user.
bool names_user(std::string_view list, uid_t user) {
  const std::string number = std::to_string(user);
  const std::string name = user_name(user).value_or(number);
  while (!list.empty()) {
    const std::string_view entry = list.substr(0, list.find(','));
    if (entry == number || entry == name) {
      return true;
    }
    list.remove_prefix(std::min(entry.size() + 1, list.size()));
  }
  return false;
}

Result<bool> is_trusted_owner(uid_t owner) {
  if (owner == 0 || owner == geteuid()) {
    return true;
  }
  TILEGYM_ASSIGN(const Setting setting, read_setting("trusted_owners"));
  // A project file is found through the working folder, which may be anybody's: it cannot vouch for its author.
  return setting.origin != SettingOrigin::project_file && names_user(setting.text, owner);
}

Status check_entry(std::string_view what, const fs::path& path) {
  struct stat entry{};
  if (stat(path.c_str(), &entry) != 0) {
    return Error{fmt::format("{}: wanted '{}', got: {}", what, path.string(), std::strerror(errno))};
  }
  const char* kind = S_ISDIR(entry.st_mode) ? "folder" : "file";
  TILEGYM_ASSIGN(const bool owned, is_trusted_owner(entry.st_uid));
  if (!owned) {
    const std::string owner = user_name(entry.st_uid).value_or(std::to_string(entry.st_uid));
    return Error{
        fmt::format("{}: wanted a {} of this user or of root, but '{}' belongs to {}, who could put anything there; "
                    "take ownership of it with chown, or name {} in TILEGYM_RS_TRUSTED_OWNERS",
                    what, kind, path.string(), owner, owner)};
  }
  if ((entry.st_mode & S_IWOTH) != 0) {
    return Error{
        fmt::format("{}: wanted a {} that other users cannot change, but everybody may write '{}' (mode {:o}); "
                    "close it with: chmod o-w '{}'",
                    what, kind, path.string(), entry.st_mode & 07777, path.string())};
  }
  return {};
}

}  // namespace

Status check_trusted_folder(std::string_view what, const fs::path& folder) {
  return check_entry(what, folder);
}

Status check_trusted_file(std::string_view what, const fs::path& file) {
  std::error_code error;
  const fs::path real = fs::canonical(file, error);
  if (error) {
    return Error{fmt::format("{}: wanted '{}', got: {}", what, file.string(), error.message())};
  }
  TILEGYM_TRY(check_entry(what, real.parent_path()));
  return check_entry(what, real);
}

}  // namespace tilegym::runtime
