#pragma once

#include "bindings/torch_bridge.h"

/// The way to libtorch where there is one. Under the GIL.
namespace tilegym::bindings {

/// The bridge of the module built for the running torch, imported at the first call; null where there is none. Leaves
/// no exception set.
[[nodiscard]] const TorchBridge* torch_bridge() noexcept;

/// The same without importing: null before the first call of torch_bridge.
[[nodiscard]] const TorchBridge* loaded_torch_bridge() noexcept;

/// Makes calls go through Python, or through libtorch again; both do the same.
void use_torch_bridge(bool wanted) noexcept;

}  // namespace tilegym::bindings
