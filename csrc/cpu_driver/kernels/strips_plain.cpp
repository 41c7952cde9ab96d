#include "cpu_driver/kernels/vector/prelude.h"

namespace tilegym::cpu::plain {
#include "cpu_driver/kernels/strips.inl"
#include "cpu_driver/kernels/vector/plain.inl"
}  // namespace tilegym::cpu::plain
