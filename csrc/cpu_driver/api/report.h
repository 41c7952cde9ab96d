#pragma once

#include <cstddef>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include "cpu_driver/api/cuda_api.h"

namespace tilegym::cpu {

/// A driver call's result with the text that explains it; the text is empty for CUDA_SUCCESS.
struct Failure {
  CUresult code = CUDA_SUCCESS;
  std::string report;
};

/// Keeps `text` as the calling thread's last report and returns `code`.
CUresult report(CUresult code, std::string_view text) noexcept;
/// The same with the name of the running driver call in front.
CUresult fail(CUresult code, std::string_view text) noexcept;
[[nodiscard]] const std::string& last_report() noexcept;

/// Names the driver call that runs on this thread, for fail().
void enter_call(const char* name) noexcept;

/// Body of a C entry point: no exception leaves it.
template <class Body>
CUresult entry(const char* name, Body&& body) noexcept {
  enter_call(name);
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return fail(CUDA_ERROR_OUT_OF_MEMORY, "the host is out of memory");
  } catch (const std::system_error& error) {
    return fail(CUDA_ERROR_OPERATING_SYSTEM, error.what());
  } catch (...) {
    return fail(CUDA_ERROR_UNKNOWN, "unexpected exception");
  }
}

/// Stores `value` behind a caller's out-pointer, or fails with CUDA_ERROR_INVALID_VALUE where it is null.
template <class T>
CUresult give(T* out, T value) noexcept {
  if (out == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the pointer for the result is null");
  *out = value;
  return CUDA_SUCCESS;
}

}  // namespace tilegym::cpu

/// Returns the result of a driver step to the caller unless it is CUDA_SUCCESS.
#define TILEGYM_CU_TRY(expression)                                                                     \
  do {                                                                                                 \
    if (const CUresult tilegym_code = (expression); tilegym_code != CUDA_SUCCESS) return tilegym_code; \
  } while (false)
