#pragma once

#include <cstddef>
#include <span>

namespace tilegym::bindings {

/// The comparison's kernels for GPUs; empty where the build had no nvcc.
[[nodiscard]] std::span<const std::byte> compare_image() noexcept;

}  // namespace tilegym::bindings
