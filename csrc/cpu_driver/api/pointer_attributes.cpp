#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "cpu_driver/api/memory.h"

namespace tilegym::cpu {
namespace {

/// Writes one attribute of an allocation to caller's memory of the attribute's type.
using Getter = void (*)(const Allocation& allocation, CUdeviceptr address, void* out);

template <class T>
void put(void* out, T value) noexcept {
  std::memcpy(out, &value, sizeof(value));
}

unsigned memory_type(MemoryKind kind) noexcept {
  return kind == MemoryKind::pinned_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
}

CUcontext context_of(const Allocation& allocation) noexcept {
  return allocation.context == nullptr ? nullptr : allocation.context->handle();
}

struct Row {
  CUpointer_attribute attribute;
  std::size_t bytes;  ///< size of the attribute's type
  Getter get;
};

constexpr std::array kRows{
    Row{CU_POINTER_ATTRIBUTE_CONTEXT, sizeof(CUcontext),
        [](const Allocation& allocation, CUdeviceptr, void* out) { put(out, context_of(allocation)); }},
    Row{CU_POINTER_ATTRIBUTE_MEMORY_TYPE, sizeof(unsigned),
        [](const Allocation& allocation, CUdeviceptr, void* out) { put(out, memory_type(allocation.kind)); }},
    Row{CU_POINTER_ATTRIBUTE_DEVICE_POINTER, sizeof(CUdeviceptr),
        [](const Allocation&, CUdeviceptr address, void* out) { put(out, address); }},
    Row{CU_POINTER_ATTRIBUTE_HOST_POINTER, sizeof(void*),
        [](const Allocation&, CUdeviceptr address, void* out) { put(out, address); }},
    Row{CU_POINTER_ATTRIBUTE_IS_MANAGED, sizeof(unsigned),
        [](const Allocation& allocation, CUdeviceptr, void* out) {
          put(out, static_cast<unsigned>(allocation.kind == MemoryKind::managed));
        }},
    Row{CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, sizeof(int),
        [](const Allocation&, CUdeviceptr, void* out) { put(out, 0); }},
    Row{CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, sizeof(CUdeviceptr),
        [](const Allocation& allocation, CUdeviceptr, void* out) { put(out, CUdeviceptr{allocation.begin}); }},
    Row{CU_POINTER_ATTRIBUTE_RANGE_SIZE, sizeof(std::size_t),
        [](const Allocation& allocation, CUdeviceptr, void* out) { put(out, allocation.bytes); }},
    Row{CU_POINTER_ATTRIBUTE_MAPPED, sizeof(unsigned), [](const Allocation&, CUdeviceptr, void* out) { put(out, 1U); }},
    Row{CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, sizeof(unsigned),
        [](const Allocation&, CUdeviceptr, void* out) { put(out, 0U); }},
};

const Row* find_row(CUpointer_attribute attribute) noexcept {
  const auto row = std::find_if(kRows.begin(), kRows.end(), [=](const Row& r) { return r.attribute == attribute; });
  return row == kRows.end() ? nullptr : &*row;
}

CUresult unknown_attribute(CUpointer_attribute attribute) {
  return fail(CUDA_ERROR_NOT_SUPPORTED, "pointer attribute " + std::to_string(attribute) + " is not available");
}

/// Kernels reach all of the program's memory, so its addresses are device addresses in whatever context is current, or
/// else the primary one. Nothing else is known of memory that the driver did not hand out.
CUresult foreign_attribute(const Row& row, CUdeviceptr address, void* out) {
  if (address == 0) return fail(CUDA_ERROR_INVALID_VALUE, "the address is null");
  Allocation memory;
  switch (row.attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: {
      CUcontext context = current_handle();
      if (context == nullptr) TILEGYM_CU_TRY(borrow_primary_context(context));
      put(out, context);
      return CUDA_SUCCESS;
    }
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      row.get(memory, address, out);
      return CUDA_SUCCESS;
    default:
      return fail(CUDA_ERROR_INVALID_VALUE, "the address is in no allocation of this driver");
  }
}

CUresult get_attribute(void* out, CUpointer_attribute attribute, CUdeviceptr address) {
  TILEGYM_CU_TRY(check_initialized());
  if (out == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the pointer for the attribute is null");
  const Row* row = find_row(attribute);
  if (row == nullptr) return unknown_attribute(attribute);
  const auto allocation = find_allocation(address);
  if (!allocation) return foreign_attribute(*row, address, out);
  row->get(*allocation, address, out);
  return CUDA_SUCCESS;
}

/// As the API demands, an address that is not the driver's is no error here: all its attributes are zero.
CUresult get_attributes(unsigned count, const CUpointer_attribute* attributes, void** out, CUdeviceptr address) {
  TILEGYM_CU_TRY(check_initialized());
  if (attributes == nullptr || out == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "an argument array is null");
  const auto allocation = find_allocation(address);
  for (unsigned i = 0; i < count; ++i) {
    const Row* row = find_row(attributes[i]);
    if (row == nullptr) return unknown_attribute(attributes[i]);
    if (out[i] == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "the pointer for an attribute is null");
    std::memset(out[i], 0, row->bytes);
    if (allocation) row->get(*allocation, address, out[i]);
  }
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace tilegym::cpu

using namespace tilegym::cpu;

extern "C" {

CUresult CUDAAPI cuPointerGetAttribute(void* out, CUpointer_attribute attribute, CUdeviceptr address) {
  return entry(__func__, [&] { return get_attribute(out, attribute, address); });
}

CUresult CUDAAPI cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** out,
                                        CUdeviceptr address) {
  return entry(__func__, [&] { return get_attributes(count, attributes, out, address); });
}

}  // extern "C"
