#include <array>
#include <string>

#include "cpu_driver/api/report.h"

namespace tilegym::cpu {
namespace {

struct ErrorRow {
  CUresult code;
  const char* name;
  const char* text;
};

constexpr std::array kErrors{
#define DRIVER_ERROR(code, text) ErrorRow{code, #code, text},
#include "cpu_driver/api/error_names.def"
#undef DRIVER_ERROR
};

/// Stores a column of the code's row; null and CUDA_ERROR_INVALID_VALUE for what is no code.
CUresult look_up(CUresult code, const char* ErrorRow::* column, const char** out) {
  if (out == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the pointer for the text is null");
  *out = nullptr;
  for (const ErrorRow& row : kErrors) {
    if (row.code == code) return give(out, row.*column);
  }
  return fail(CUDA_ERROR_INVALID_VALUE, "error code " + std::to_string(code) + " is unknown");
}

}  // namespace
}  // namespace tilegym::cpu

using namespace tilegym::cpu;

extern "C" {

CUresult CUDAAPI cuGetErrorName(CUresult code, const char** out) {
  return entry(__func__, [&] { return look_up(code, &ErrorRow::name, out); });
}

CUresult CUDAAPI cuGetErrorString(CUresult code, const char** out) {
  return entry(__func__, [&] { return look_up(code, &ErrorRow::text, out); });
}

}  // extern "C"
