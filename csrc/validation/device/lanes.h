#pragma once

#include <cstdint>
#include <cstring>

/// The few things that only a GPU has. Without nvcc the same names come from the includer, which runs the kernels on
/// threads (tests/cpp/validation/device_emulation.h).
#if defined(__CUDACC__)
#define TILEGYM_DEVICE __device__ __forceinline__
#define TILEGYM_APART __device__ __noinline__
// Four thread blocks on a multiprocessor, so that memory is waited for by others.
#define TILEGYM_KERNEL                          \
  extern "C" __global__ void __launch_bounds__( \
      tilegym::validation::device::kLanes* tilegym::validation::device::kWarps, 4)
#define TILEGYM_PARAMETER const __grid_constant__
#define TILEGYM_SHARED __shared__
#define TILEGYM_UNROLL _Pragma("unroll")

namespace tilegym::validation::device {

constexpr unsigned kAllLanes = 0xFFFFFFFFU;

TILEGYM_DEVICE int lane_index() {
  return static_cast<int>(threadIdx.x) % 32;
}
TILEGYM_DEVICE int warp_index() {
  return static_cast<int>(threadIdx.x) / 32;
}
TILEGYM_DEVICE int block_index() {
  return static_cast<int>(blockIdx.x);
}
TILEGYM_DEVICE int block_count() {
  return static_cast<int>(gridDim.x);
}
TILEGYM_DEVICE void wait_for_block() {
  __syncthreads();
}
TILEGYM_DEVICE void publish() {
  __threadfence();
}
TILEGYM_DEVICE bool every_lane(bool here) {
  return __all_sync(kAllLanes, here) != 0;
}
template <class T>
TILEGYM_DEVICE T from_lane(T value, int distance) {
  return __shfl_xor_sync(kAllLanes, value, distance);
}
TILEGYM_DEVICE void add_to(std::int64_t* place, std::int64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(place), static_cast<unsigned long long>(value));
}
TILEGYM_DEVICE void add_to(std::uint64_t* place, std::uint64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(place), static_cast<unsigned long long>(value));
}
TILEGYM_DEVICE std::uint32_t add_to(std::uint32_t* place, std::uint32_t value) {
  return atomicAdd(place, value);
}
TILEGYM_DEVICE void raise_to(std::uint64_t* place, std::uint64_t value) {
  atomicMax(reinterpret_cast<unsigned long long*>(place), static_cast<unsigned long long>(value));
}
/// What another thread block has published.
template <class T>
TILEGYM_DEVICE T published(const T* place) {
  return __ldcg(place);
}
TILEGYM_DEVICE float bits_as_float(std::uint32_t bits) {
  return __uint_as_float(bits);
}
TILEGYM_DEVICE std::uint32_t bits_of(float value) {
  return __float_as_uint(value);
}
TILEGYM_DEVICE double bits_as_double(std::uint64_t bits) {
  return __longlong_as_double(static_cast<long long>(bits));
}
TILEGYM_DEVICE std::uint64_t bits_of(double value) {
  return static_cast<std::uint64_t>(__double_as_longlong(value));
}
TILEGYM_DEVICE float half_value(std::uint16_t bits) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
  return value;
}
TILEGYM_DEVICE float nearly_inverse(float value) {
  float inverse;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(inverse) : "f"(value));
  return inverse;
}
TILEGYM_DEVICE float multiply_add(float a, float b, float c) {
  return __fmaf_rn(a, b, c);
}
TILEGYM_DEVICE double multiply_add(double a, double b, double c) {
  return __fma_rn(a, b, c);
}

}  // namespace tilegym::validation::device
#endif

namespace tilegym::validation::device {

template <class T>
TILEGYM_DEVICE T load_bits(const unsigned char* address) {
  return *reinterpret_cast<const T*>(address);
}

}  // namespace tilegym::validation::device
