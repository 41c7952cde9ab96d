#pragma once

#include "runtime/kernel_abi.h"

namespace tilegym::runtime {

/// The services of this process for a kernel library: log and settings. Lives as long as the process; its functions may
/// be called from any thread. There is no image cache behind it: lookup, release and store are null.
[[nodiscard]] const HostTable& host_table() noexcept;

}  // namespace tilegym::runtime
