#pragma once

#include "runtime/kernel_abi.h"

namespace tilegym::runtime {

/// The services of this process for a kernel library: cache of compiled kernels, compiler, log and settings. Lives as
/// long as the process; its functions may be called from any thread.
[[nodiscard]] const HostTable& host_table() noexcept;

}  // namespace tilegym::runtime
