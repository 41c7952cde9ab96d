#include "runtime/log.h"

#include <spdlog/sinks/ansicolor_sink.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "runtime/settings.h"

namespace tilegym::runtime {
namespace {

// Not registered with spdlog's registry: the host process may use spdlog for itself.
spdlog::logger& logger() {
  static spdlog::logger instance = [] {
    spdlog::logger made("tilegym", std::make_shared<spdlog::sinks::ansicolor_stderr_sink_mt>());
    made.set_pattern("%n: %^%l%$: %v");
    made.flush_on(spdlog::level::trace);
    made.set_level(spdlog::level::trace);
    return made;
  }();
  return instance;
}

spdlog::level::level_enum threshold() {
  const Result<std::string> level = read_text("log");
  if (level.ok()) {
    return spdlog::level::from_str(level.value());
  }
  static std::once_flag told;
  std::call_once(told, [&] { logger().error("{}", level.error().message); });
  return spdlog::level::warn;
}

}  // namespace

void log(LogLevel level, std::string_view text) {
  const auto wanted = static_cast<spdlog::level::level_enum>(level);
  if (wanted >= threshold()) {
    logger().log(wanted, spdlog::string_view_t(text.data(), text.size()));
  }
}

void log_once(LogLevel level, std::string_view text) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> seen;
  {
    const std::scoped_lock lock(mutex);
    if (!seen.emplace(text).second) {
      return;
    }
  }
  log(level, text);
}

}  // namespace tilegym::runtime
