#include <cstdint>
#include <cstring>

#include "cpu_driver/api/memory.h"
#include "cpu_driver/api/stream.h"

namespace tilegym::cpu {
namespace {

struct Copy {
  std::uintptr_t to = 0;
  std::uintptr_t from = 0;
  std::size_t bytes = 0;

  Failure operator()() const noexcept {
    // Device-to-device copies may overlap on a GPU without an error.
    if (bytes != 0) std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
    return {};
  }
};

std::uintptr_t number(const void* pointer) noexcept {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

CUresult check_copy(const Copy& copy) {
  TILEGYM_CU_TRY(check_span(copy.to, copy.bytes, "destination"));
  return check_span(copy.from, copy.bytes, "source");
}

CUresult copy_now(const Copy& copy) {
  Lane lane;
  TILEGYM_CU_TRY(find_lane(nullptr, lane));
  TILEGYM_CU_TRY(check_copy(copy));
  return run_in(lane, copy);
}

/// Queues a copy. `host` is the side that is the program's own memory (0: none): unless it is pinned, the program may
/// use it again when the call returns, so the call waits for its turn in the stream.
CUresult copy_in_stream(const Copy& copy, std::uintptr_t host, CUstream stream) {
  Lane lane;
  TILEGYM_CU_TRY(find_lane(stream, lane));
  TILEGYM_CU_TRY(check_copy(copy));
  const bool pageable = host != 0 && !find_allocation(host);
  TILEGYM_CU_TRY(run_in(lane, copy));
  if (!pageable || lane.stream == nullptr) return CUDA_SUCCESS;
  TILEGYM_CU_TRY(check_may_wait());
  lane.stream->wait();
  return lane.context->take_failure();
}

/// The side of a copy of unknown direction that is not the driver's memory, or 0.
std::uintptr_t foreign_side(const Copy& copy) {
  if (!find_allocation(copy.to)) return copy.to;
  return find_allocation(copy.from) ? 0 : copy.from;
}

template <class T>
struct Fill {
  std::uintptr_t to = 0;
  T value{};
  std::size_t count = 0;

  Failure operator()() const noexcept {
    auto* element = reinterpret_cast<T*>(to);
    for (std::size_t i = 0; i < count; ++i) element[i] = value;
    return {};
  }
};

template <class T>
CUresult fill_in_stream(const Fill<T>& fill, CUstream stream) {
  Lane lane;
  TILEGYM_CU_TRY(find_lane(stream, lane));
  if (fill.to % sizeof(T) != 0) return fail(CUDA_ERROR_INVALID_VALUE, "the address is not a multiple of the element");
  if (fill.count > SIZE_MAX / sizeof(T)) return fail(CUDA_ERROR_INVALID_VALUE, "the number of elements overflows");
  TILEGYM_CU_TRY(check_span(fill.to, fill.count * sizeof(T), "destination"));
  return run_in(lane, fill);
}

}  // namespace
}  // namespace tilegym::cpu

using namespace tilegym::cpu;

extern "C" {

CUresult CUDAAPI cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return entry(__func__, [&] { return copy_now({to, from, bytes}); });
}

CUresult CUDAAPI cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
  return entry(__func__, [&] { return copy_now({to, number(from), bytes}); });
}

CUresult CUDAAPI cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
  return entry(__func__, [&] { return copy_now({number(to), from, bytes}); });
}

CUresult CUDAAPI cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return entry(__func__, [&] { return copy_now({to, from, bytes}); });
}

CUresult CUDAAPI cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return entry(__func__, [&] {
    const Copy copy{to, from, bytes};
    return copy_in_stream(copy, foreign_side(copy), stream);
  });
}

CUresult CUDAAPI cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return entry(__func__, [&] { return copy_in_stream({to, number(from), bytes}, number(from), stream); });
}

CUresult CUDAAPI cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return entry(__func__, [&] { return copy_in_stream({number(to), from, bytes}, number(to), stream); });
}

CUresult CUDAAPI cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return entry(__func__, [&] { return copy_in_stream({to, from, bytes}, 0, stream); });
}

CUresult CUDAAPI cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
  return entry(__func__, [&] { return fill_in_stream<unsigned char>({to, value, count}, nullptr); });
}

CUresult CUDAAPI cuMemsetD16_v2(CUdeviceptr to, unsigned short value, size_t count) {
  return entry(__func__, [&] { return fill_in_stream<unsigned short>({to, value, count}, nullptr); });
}

CUresult CUDAAPI cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) {
  return entry(__func__, [&] { return fill_in_stream<unsigned>({to, value, count}, nullptr); });
}

CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return entry(__func__, [&] { return fill_in_stream<unsigned char>({to, value, count}, stream); });
}

CUresult CUDAAPI cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  return entry(__func__, [&] { return fill_in_stream<unsigned short>({to, value, count}, stream); });
}

CUresult CUDAAPI cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  return entry(__func__, [&] { return fill_in_stream<unsigned>({to, value, count}, stream); });
}

TILEGYM_CU_ALIAS(cuMemcpy_ptds, cuMemcpy);
TILEGYM_CU_ALIAS(cuMemcpyHtoD_v2_ptds, cuMemcpyHtoD_v2);
TILEGYM_CU_ALIAS(cuMemcpyDtoH_v2_ptds, cuMemcpyDtoH_v2);
TILEGYM_CU_ALIAS(cuMemcpyDtoD_v2_ptds, cuMemcpyDtoD_v2);
TILEGYM_CU_ALIAS(cuMemsetD8_v2_ptds, cuMemsetD8_v2);
TILEGYM_CU_ALIAS(cuMemsetD16_v2_ptds, cuMemsetD16_v2);
TILEGYM_CU_ALIAS(cuMemsetD32_v2_ptds, cuMemsetD32_v2);
TILEGYM_CU_ALIAS(cuMemcpyAsync_ptsz, cuMemcpyAsync);
TILEGYM_CU_ALIAS(cuMemcpyHtoDAsync_v2_ptsz, cuMemcpyHtoDAsync_v2);
TILEGYM_CU_ALIAS(cuMemcpyDtoHAsync_v2_ptsz, cuMemcpyDtoHAsync_v2);
TILEGYM_CU_ALIAS(cuMemcpyDtoDAsync_v2_ptsz, cuMemcpyDtoDAsync_v2);
TILEGYM_CU_ALIAS(cuMemsetD8Async_ptsz, cuMemsetD8Async);
TILEGYM_CU_ALIAS(cuMemsetD16Async_ptsz, cuMemsetD16Async);
TILEGYM_CU_ALIAS(cuMemsetD32Async_ptsz, cuMemsetD32Async);

}  // extern "C"
