#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "cpu_driver/api/module.h"
#include "cpu_driver/api/options.h"

namespace tilegym::cpu {
namespace {

int architecture() noexcept {
  return current_target().major * 10 + current_target().minor;
}
int shared_memory() noexcept {
  return current_target().shared_bytes_per_block;
}
int one() noexcept {
  return 1;
}
int zero() noexcept {
  return 0;
}

/// Attributes of every function: a tile block is one thread on this device and uses neither shared memory nor
/// registers.
struct AttributeRow {
  CUfunction_attribute attribute;
  int (*value)() noexcept;
};
constexpr std::array kAttributes{
    AttributeRow{CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, one},
    AttributeRow{CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, zero},
    AttributeRow{CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, zero},
    AttributeRow{CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, zero},
    AttributeRow{CU_FUNC_ATTRIBUTE_NUM_REGS, zero},
    AttributeRow{CU_FUNC_ATTRIBUTE_PTX_VERSION, architecture},
    AttributeRow{CU_FUNC_ATTRIBUTE_BINARY_VERSION, architecture},
    AttributeRow{CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, zero},
    AttributeRow{CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, shared_memory},
    AttributeRow{CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, zero},
};

std::optional<int> attribute_value(CUfunction_attribute attribute) noexcept {
  for (const AttributeRow& row : kAttributes) {
    if (row.attribute == attribute) return row.value();
  }
  return std::nullopt;
}

CUresult get_attribute(int* out, CUfunction_attribute attribute, CUfunction handle) {
  Function* function = nullptr;
  TILEGYM_CU_TRY(find_function(handle, function));
  const auto value = attribute_value(attribute);
  if (!value) return fail(CUDA_ERROR_INVALID_VALUE, "attribute " + std::to_string(attribute) + " is not available");
  return give(out, *value);
}

/// The carveout is a hint that the device may ignore. Kernels use no shared memory, so the largest size that a launch
/// may ask for is the target's from the start.
CUresult set_attribute(CUfunction handle, CUfunction_attribute attribute, int value) {
  Function* function = nullptr;
  TILEGYM_CU_TRY(find_function(handle, function));
  const bool hint = attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT && value >= -1 && value <= 100;
  const bool size = attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES && value >= 0 &&
                    value <= current_target().shared_bytes_per_block;
  if (hint || size) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE,
              "attribute " + std::to_string(attribute) + " cannot be set to " + std::to_string(value));
}

CUresult get_parameter(CUfunction handle, std::size_t index, std::size_t* offset, std::size_t* bytes) {
  Function* function = nullptr;
  TILEGYM_CU_TRY(find_function(handle, function));
  if (index >= function->slots.size()) {
    return fail(CUDA_ERROR_INVALID_VALUE, "parameter index: wanted below " + std::to_string(function->slots.size()) +
                                              ", got " + std::to_string(index));
  }
  if (bytes != nullptr) *bytes = function->slots[index].bytes;
  return give(offset, function->slots[index].offset);
}

CUresult get_name(const char** out, CUfunction handle) {
  Function* function = nullptr;
  TILEGYM_CU_TRY(find_function(handle, function));
  return give(out, function->name.c_str());
}

CUfunction as_function(CUkernel kernel) noexcept {
  return reinterpret_cast<CUfunction>(kernel);
}

}  // namespace

Function::Function(std::unique_ptr<const Kernel> lowered, const Context* owner)
    : name(lowered->name()), kernel(std::move(lowered)), context(owner) {
  for (const Parameter& parameter : kernel->parameters()) {
    const std::size_t alignment = std::max<std::size_t>(1, parameter.bytes);
    const std::size_t offset = (argument_bytes + alignment - 1) / alignment * alignment;
    slots.push_back({offset, parameter.bytes});
    argument_bytes = offset + parameter.bytes;
  }
}

FunctionTable& functions() noexcept {
  static auto& table = *new FunctionTable;
  return table;
}

CUresult find_function(CUfunction handle, Function*& function) noexcept {
  TILEGYM_CU_TRY(check_initialized());
  function = functions().find(handle);
  return function != nullptr ? CUDA_SUCCESS : fail(CUDA_ERROR_INVALID_HANDLE, "the function handle is not live");
}

}  // namespace tilegym::cpu

using namespace tilegym::cpu;

extern "C" {

CUresult CUDAAPI cuFuncGetAttribute(int* out, CUfunction_attribute attribute, CUfunction function) {
  return entry(__func__, [&] { return get_attribute(out, attribute, function); });
}

CUresult CUDAAPI cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return entry(__func__, [&] { return set_attribute(function, attribute, value); });
}

// A preference between caches that the device does not have, and the API calls it a hint.
CUresult CUDAAPI cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache) {
  return entry(__func__, [&] {
    Function* function = nullptr;
    return find_function(handle, function);
  });
}

CUresult CUDAAPI cuFuncGetParamInfo(CUfunction function, size_t index, size_t* offset, size_t* bytes) {
  return entry(__func__, [&] { return get_parameter(function, index, offset, bytes); });
}

CUresult CUDAAPI cuFuncGetName(const char** out, CUfunction function) {
  return entry(__func__, [&] { return get_name(out, function); });
}

CUresult CUDAAPI cuKernelGetAttribute(int* out, CUfunction_attribute attribute, CUkernel kernel, CUdevice device) {
  return entry(__func__, [&]() -> CUresult {
    TILEGYM_CU_TRY(check_device(device));
    return get_attribute(out, attribute, as_function(kernel));
  });
}

CUresult CUDAAPI cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device) {
  return entry(__func__, [&]() -> CUresult {
    TILEGYM_CU_TRY(check_device(device));
    return set_attribute(as_function(kernel), attribute, value);
  });
}

CUresult CUDAAPI cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* bytes) {
  return entry(__func__, [&] { return get_parameter(as_function(kernel), index, offset, bytes); });
}

CUresult CUDAAPI cuKernelGetName(const char** out, CUkernel kernel) {
  return entry(__func__, [&] { return get_name(out, as_function(kernel)); });
}

}  // extern "C"
