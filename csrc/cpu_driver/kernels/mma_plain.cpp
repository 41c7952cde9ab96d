#include "cpu_driver/kernels/vector/prelude.h"

namespace tilegym::cpu::plain {
// clang-format off
#include "cpu_driver/kernels/vector/plain.inl"
#include "cpu_driver/kernels/mma.inl"
// clang-format on
}  // namespace tilegym::cpu::plain
