// Everything behind find_strip, for one instruction set.
// clang-format off: each file builds on those before it
#include "cpu_driver/kernels/strip_loop.inl"
#include "cpu_driver/kernels/float_ops.inl"
#include "cpu_driver/kernels/float_math.inl"
#include "cpu_driver/kernels/trigonometry.inl"
#include "cpu_driver/kernels/integer_ops.inl"
#include "cpu_driver/kernels/mixed_ops.inl"
#include "cpu_driver/kernels/convert_ops.inl"
#include "cpu_driver/kernels/table.inl"
#include "cpu_driver/kernels/libm_ops.inl"
#include "cpu_driver/kernels/strip_table.inl"
// clang-format on
