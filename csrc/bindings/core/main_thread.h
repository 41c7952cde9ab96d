#pragma once

namespace tilegym::bindings {

/// Remembers Python's main thread; called once, when the module is made. Needs the GIL.
void remember_main_thread();

/// Whether the caller is Python's main thread, the only one that sees KeyboardInterrupt.
[[nodiscard]] bool is_main_thread() noexcept;

}  // namespace tilegym::bindings
