#pragma once

#include <array>
#include <string>

#include "cpu_driver/engine/frame.h"

namespace tilegym::cpu {

/// The text for the fault of a frame: kernel, operation with byte offset, tile block, and what was wrong.
[[nodiscard]] std::string describe_fault(const Plan& plan, const Frame& frame,
                                         const std::array<std::uint32_t, 3>& block);

}  // namespace tilegym::cpu
