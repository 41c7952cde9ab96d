#include "runtime/host_table.h"

#include <algorithm>
#include <string>

#include "runtime/log.h"
#include "runtime/settings.h"

namespace tilegym::runtime {
namespace {

void log_from_library(std::int32_t level, const char* text, std::size_t length) noexcept {
  constexpr auto kLast = static_cast<std::int32_t>(LogLevel::error);
  log(static_cast<LogLevel>(std::clamp(level, 0, kLast)), {text, length});
}

const char* setting_for_library(const char* name) noexcept {
  thread_local std::string text;
  const auto setting = read_setting(name);
  if (!setting) {
    log_once(LogLevel::warning, setting.error().message);
    return nullptr;
  }
  text = setting.value().text;
  return text.empty() ? nullptr : text.c_str();
}

}  // namespace

const HostTable& host_table() noexcept {
  static const HostTable table{.size = sizeof(HostTable),
                               .lookup = nullptr,
                               .release = nullptr,
                               .store = nullptr,
                               .log = log_from_library,
                               .setting = setting_for_library};
  return table;
}

}  // namespace tilegym::runtime
