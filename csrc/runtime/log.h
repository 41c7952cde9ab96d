#pragma once

#include <string_view>

/// The process's one logger, named "tilegym", on standard error. Its lowest level is the setting `log`, read at every
/// call, so a change takes effect at once. Thread-safe. Not for hot paths.
namespace tilegym::runtime {

enum class LogLevel { trace = 0, debug = 1, info = 2, warning = 3, error = 4 };

void log(LogLevel level, std::string_view text);

/// Logs a text the first time it is passed in this process.
void log_once(LogLevel level, std::string_view text);

}  // namespace tilegym::runtime
