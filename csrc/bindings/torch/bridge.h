#pragma once

#include "bindings/torch_bridge.h"

namespace tilegym::bindings {

/// Lives as long as the process.
[[nodiscard]] const TorchBridge& torch_bridge() noexcept;

}  // namespace tilegym::bindings
