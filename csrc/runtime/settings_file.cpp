#include "runtime/settings_file.h"

#define TOML_EXCEPTIONS 0
#include <toml++/toml.h>

#include <optional>

namespace tilegym::runtime {
namespace {

std::optional<std::string> text_of(const toml::node& node) {
  if (const auto* text = node.as_string()) {
    return text->get();
  }
  if (const auto* number = node.as_integer()) {
    return std::to_string(number->get());
  }
  if (const auto* flag = node.as_boolean()) {
    return flag->get() ? "1" : "0";
  }
  return std::nullopt;
}

std::string place(const std::filesystem::path& path, const toml::source_region& where) {
  return path.string() + ":" + std::to_string(where.begin.line);
}

}  // namespace

Result<SettingsFile> parse_settings_file(const std::filesystem::path& path) {
  toml::parse_result parsed = toml::parse_file(path.string());
  if (!parsed) {
    return Error{place(path, parsed.error().source()) +
                 ": wanted a TOML file of settings, got an error: " + std::string(parsed.error().description())};
  }
  SettingsFile file{path, {}};
  for (const auto& [key, node] : parsed.table()) {
    std::optional<std::string> text = text_of(node);
    if (!text) {
      return Error{place(path, node.source()) + ": " + std::string(key.str()) +
                   ": wanted a string, an integer or a boolean, got another kind of value"};
    }
    file.values.emplace(key.str(), *std::move(text));
  }
  return file;
}

}  // namespace tilegym::runtime
