#pragma once

#include "validation/device/scanning.h"

/// The kernels, by the names that the host launches.
TILEGYM_KERNEL tilegym_compare_any_f32(TILEGYM_PARAMETER tilegym::validation::device::Job job) {
  tilegym::validation::device::compare_floats<tilegym::validation::device::AnyPairs<float>>(job);
}
TILEGYM_KERNEL tilegym_compare_any_f64(TILEGYM_PARAMETER tilegym::validation::device::Job job) {
  tilegym::validation::device::compare_floats<tilegym::validation::device::AnyPairs<double>>(job);
}
TILEGYM_KERNEL tilegym_compare_any_i64(TILEGYM_PARAMETER tilegym::validation::device::Job job) {
  tilegym::validation::device::compare_integers(job);
}
TILEGYM_KERNEL tilegym_fetch_f64(TILEGYM_PARAMETER tilegym::validation::device::Job job) {
  tilegym::validation::device::fetch<double>(job);
}
TILEGYM_KERNEL tilegym_fetch_i64(TILEGYM_PARAMETER tilegym::validation::device::Job job) {
  tilegym::validation::device::fetch<std::int64_t>(job);
}

// By the bytes of an element of either array; other pairs go through compare_any.
#define TILEGYM_PACKED(A, E)                                                                                \
  TILEGYM_KERNEL tilegym_compare_packed_##A##_##E(TILEGYM_PARAMETER tilegym::validation::device::Job job) { \
    using namespace tilegym::validation::device;                                                            \
    compare_floats<PackedPairs<Bytes##A, Bytes##E>>(job);                                                   \
  }
namespace tilegym::validation::device {
using Bytes1 = std::uint8_t;
using Bytes2 = std::uint16_t;
using Bytes4 = std::uint32_t;
}  // namespace tilegym::validation::device
TILEGYM_PACKED(1, 1)
TILEGYM_PACKED(2, 2)
TILEGYM_PACKED(2, 4)
TILEGYM_PACKED(4, 2)
TILEGYM_PACKED(4, 4)
#undef TILEGYM_PACKED
