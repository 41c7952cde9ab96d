#include "cpu_driver/kernels/vector/prelude.h"

namespace tilegym::cpu::plain {
#include "cpu_driver/kernels/memory.inl"
#include "cpu_driver/kernels/vector/plain.inl"
}  // namespace tilegym::cpu::plain
