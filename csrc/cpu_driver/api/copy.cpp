#include <cstdint>

#include "cpu_driver/api/capture.h"
#include "cpu_driver/api/copy_box.h"
#include "cpu_driver/api/memory.h"
#include "cpu_driver/api/stream.h"

namespace tilegym::cpu {
namespace {

CopyEnd host(const void* pointer) noexcept {
  return {CU_MEMORYTYPE_HOST, reinterpret_cast<CUdeviceptr>(pointer)};
}
CopyEnd device(CUdeviceptr address) noexcept {
  return {CU_MEMORYTYPE_DEVICE, address};
}
/// The call leaves it to the address what its memory is.
CopyEnd any(CUdeviceptr address) noexcept {
  return {CU_MEMORYTYPE_UNIFIED, address};
}

/// Calls without a stream return when their work is done.
template <class Work>
CUresult do_now(const Work& work, CUstream stream) {
  Lane lane;
  TILEGYM_CU_TRY(find_lane(stream, lane));
  TILEGYM_CU_TRY(check_not_capturing(lane.stream));
  TILEGYM_CU_TRY(check_box(work));
  TILEGYM_CU_TRY(issue(lane, work));
  return settle(lane);
}

/// Memory of the program itself, which it may use again when the call returns.
bool pageable(CUmemorytype type, CUdeviceptr address) {
  return type != CU_MEMORYTYPE_DEVICE && !find_allocation(address);
}

CUresult copy_in_stream(const CUDA_MEMCPY3D& copy, CUstream stream) {
  Lane lane;
  TILEGYM_CU_TRY(find_lane(stream, lane));
  TILEGYM_CU_TRY(check_box(copy));
  TILEGYM_CU_TRY(issue(lane, copy));
  const bool waits =
      pageable(copy.srcMemoryType, source_of(copy)) || pageable(copy.dstMemoryType, destination_of(copy));
  return waits ? settle(lane) : CUDA_SUCCESS;
}

CUresult fill_in_stream(const CUDA_MEMSET_NODE_PARAMS& fill, CUstream stream) {
  Lane lane;
  TILEGYM_CU_TRY(find_lane(stream, lane));
  TILEGYM_CU_TRY(check_box(fill));
  return issue(lane, fill);
}

CUDA_MEMSET_NODE_PARAMS row(CUdeviceptr to, unsigned value, unsigned element, std::size_t count) noexcept {
  return {to, 0, value, element, count, 1};
}

CUDA_MEMSET_NODE_PARAMS rows(CUdeviceptr to, std::size_t pitch, unsigned value, unsigned element, std::size_t width,
                             std::size_t height) noexcept {
  return {to, pitch, value, element, width, height};
}

template <class Copy, class Body>
CUresult with(const Copy* copy, Body body) {
  return copy == nullptr ? fail(CUDA_ERROR_INVALID_VALUE, "the copy's description is null") : body(*copy);
}

CUresult check_peers(CUcontext first, CUcontext second) {
  const bool live = contexts().find(first) != nullptr && contexts().find(second) != nullptr;
  return live ? CUDA_SUCCESS : fail(CUDA_ERROR_INVALID_CONTEXT, "a context handle is not live");
}

}  // namespace
}  // namespace tilegym::cpu

using namespace tilegym::cpu;

/// A call on the legacy default stream, and the same on the calling thread's.
#define WITHOUT_STREAM(name, parameters, body)    \
  CUresult CUDAAPI name parameters {              \
    constexpr CUstream stream = nullptr;          \
    return entry(__func__, [&]()->CUresult body); \
  }                                               \
  CUresult CUDAAPI name##_ptds parameters {       \
    const CUstream stream = CU_STREAM_PER_THREAD; \
    return entry(__func__, [&]()->CUresult body); \
  }

extern "C" {

WITHOUT_STREAM(cuMemcpy, (CUdeviceptr to, CUdeviceptr from, size_t bytes),
               { return do_now(linear_copy(any(to), any(from), bytes), stream); })
WITHOUT_STREAM(cuMemcpyPeer, (CUdeviceptr to, CUcontext first, CUdeviceptr from, CUcontext second, size_t bytes), {
  TILEGYM_CU_TRY(check_peers(first, second));
  return do_now(linear_copy(device(to), device(from), bytes), stream);
})
WITHOUT_STREAM(cuMemcpyHtoD_v2, (CUdeviceptr to, const void* from, size_t bytes),
               { return do_now(linear_copy(device(to), host(from), bytes), stream); })
WITHOUT_STREAM(cuMemcpyDtoH_v2, (void* to, CUdeviceptr from, size_t bytes),
               { return do_now(linear_copy(host(to), device(from), bytes), stream); })
WITHOUT_STREAM(cuMemcpyDtoD_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes),
               { return do_now(linear_copy(device(to), device(from), bytes), stream); })
WITHOUT_STREAM(cuMemcpy2D_v2, (const CUDA_MEMCPY2D* given),
               { return with(given, [&](const auto& copy) { return do_now(box_of(copy), stream); }); })
WITHOUT_STREAM(cuMemcpy2DUnaligned_v2, (const CUDA_MEMCPY2D* given),
               { return with(given, [&](const auto& copy) { return do_now(box_of(copy), stream); }); })
WITHOUT_STREAM(cuMemcpy3D_v2, (const CUDA_MEMCPY3D* given),
               { return with(given, [&](const auto& copy) { return do_now(copy, stream); }); })
WITHOUT_STREAM(cuMemsetD8_v2, (CUdeviceptr to, unsigned char value, size_t count),
               { return do_now(row(to, value, 1, count), stream); })
WITHOUT_STREAM(cuMemsetD16_v2, (CUdeviceptr to, unsigned short value, size_t count),
               { return do_now(row(to, value, 2, count), stream); })
WITHOUT_STREAM(cuMemsetD32_v2, (CUdeviceptr to, unsigned value, size_t count),
               { return do_now(row(to, value, 4, count), stream); })
WITHOUT_STREAM(cuMemsetD2D8_v2, (CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height),
               { return do_now(rows(to, pitch, value, 1, width, height), stream); })
WITHOUT_STREAM(cuMemsetD2D16_v2, (CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height),
               { return do_now(rows(to, pitch, value, 2, width, height), stream); })
WITHOUT_STREAM(cuMemsetD2D32_v2, (CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height),
               { return do_now(rows(to, pitch, value, 4, width, height), stream); })

CUresult CUDAAPI cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return entry(__func__, [&] { return copy_in_stream(linear_copy(any(to), any(from), bytes), stream); });
}

CUresult CUDAAPI cuMemcpyPeerAsync(CUdeviceptr to, CUcontext first, CUdeviceptr from, CUcontext second, size_t bytes,
                                   CUstream stream) {
  return entry(__func__, [&]() -> CUresult {
    TILEGYM_CU_TRY(check_peers(first, second));
    return copy_in_stream(linear_copy(device(to), device(from), bytes), stream);
  });
}

CUresult CUDAAPI cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return entry(__func__, [&] { return copy_in_stream(linear_copy(device(to), host(from), bytes), stream); });
}

CUresult CUDAAPI cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return entry(__func__, [&] { return copy_in_stream(linear_copy(host(to), device(from), bytes), stream); });
}

CUresult CUDAAPI cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return entry(__func__, [&] { return copy_in_stream(linear_copy(device(to), device(from), bytes), stream); });
}

CUresult CUDAAPI cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* given, CUstream stream) {
  return entry(__func__,
               [&] { return with(given, [&](const auto& copy) { return copy_in_stream(box_of(copy), stream); }); });
}

CUresult CUDAAPI cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* given, CUstream stream) {
  return entry(__func__, [&] { return with(given, [&](const auto& copy) { return copy_in_stream(copy, stream); }); });
}

CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return entry(__func__, [&] { return fill_in_stream(row(to, value, 1, count), stream); });
}

CUresult CUDAAPI cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream) {
  return entry(__func__, [&] { return fill_in_stream(row(to, value, 2, count), stream); });
}

CUresult CUDAAPI cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  return entry(__func__, [&] { return fill_in_stream(row(to, value, 4, count), stream); });
}

CUresult CUDAAPI cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height,
                                   CUstream stream) {
  return entry(__func__, [&] { return fill_in_stream(rows(to, pitch, value, 1, width, height), stream); });
}

CUresult CUDAAPI cuMemsetD2D16Async(CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height,
                                    CUstream stream) {
  return entry(__func__, [&] { return fill_in_stream(rows(to, pitch, value, 2, width, height), stream); });
}

CUresult CUDAAPI cuMemsetD2D32Async(CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height,
                                    CUstream stream) {
  return entry(__func__, [&] { return fill_in_stream(rows(to, pitch, value, 4, width, height), stream); });
}

}  // extern "C"
