#pragma once

#include <cstddef>
#include <span>

#include "validation/compare.h"
#include "validation/device/queue.h"

namespace tilegym::validation {

/// Memory of the device that a comparison needs besides the arrays.
[[nodiscard]] std::size_t device_workspace_bytes(std::span<const std::int64_t> shape, const Detail& detail);

/// compare() for two arrays in the memory of one GPU, in one pass over them there; places of mismatches are read again
/// on the host. Results are those of compare(), but for the last bits of sums and of which pair is the worst.
/// `workspace` is 16-byte aligned memory of the device. Errors: as compare, more than 16 dimensions, too small a
/// workspace, those of the queue.
[[nodiscard]] Result<Comparison> compare_on_device(device::Queue& queue, const ArrayView& actual,
                                                   const ArrayView& expected, const Tolerance& tolerance,
                                                   const Detail& detail, std::span<std::byte> workspace);

}  // namespace tilegym::validation
