#pragma once

#include <memory>
#include <span>

#include "common/result.h"
#include "validation/device/queue.h"

namespace tilegym::validation {

/// A queue on a stream of a CUDA device, by the driver that the process has loaded already: whoever has a CUDA tensor
/// has one. `image` is what nvcc made of device/compare.cu; it is loaded once for each device and stays there.
/// Errors: no driver, an image without code for that GPU, those of the driver.
[[nodiscard]] Result<std::unique_ptr<device::Queue>> open_cuda_queue(std::span<const std::byte> image, int ordinal,
                                                                     std::uintptr_t stream);

}  // namespace tilegym::validation
