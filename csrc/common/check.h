#pragma once

namespace tilegym {

/// Prints the failed condition with its place and ends the process. For our own bugs only, never for bad input.
[[noreturn]] void fail_check(const char* condition, const char* file, int line) noexcept;

}  // namespace tilegym

/// An assertion that stays on in release builds: states an invariant of our own code.
#define TILEGYM_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::tilegym::fail_check(#condition, __FILE__, __LINE__))
