#include "cpu_driver/api/targets.h"

namespace tilegym::cpu {
namespace {

/// An attribute with one value on every target.
struct Constant {
  CUdevice_attribute attribute;
  int value;
};

/// An attribute whose value is a column of the target table.
struct Column {
  CUdevice_attribute attribute;
  int Target::* value;
};

// What a kernel or a program may rely on. A capability that has no driver call behind it is 0.
constexpr std::array kConstants{
    Constant{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
    Constant{CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
    Constant{CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
    Constant{CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    Constant{CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, static_cast<int>(kMaxGridX)},
    Constant{CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, static_cast<int>(kMaxGridYZ)},
    Constant{CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, static_cast<int>(kMaxGridYZ)},
    Constant{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
    Constant{CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024},
    Constant{CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
    Constant{CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    Constant{CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
    Constant{CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
    Constant{CU_DEVICE_ATTRIBUTE_MAX_PITCH, static_cast<int>(kMaxGridX)},
    Constant{CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
    Constant{CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1},
    Constant{CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 1},
    Constant{CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    Constant{CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, 0},
    Constant{CU_DEVICE_ATTRIBUTE_INTEGRATED, 1},
    Constant{CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    Constant{CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, CU_COMPUTEMODE_DEFAULT},
    Constant{CU_DEVICE_ATTRIBUTE_ECC_ENABLED, 0},
    Constant{CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 0},
    Constant{CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 0},
    Constant{CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, 0},
    Constant{CU_DEVICE_ATTRIBUTE_TCC_DRIVER, 0},
    Constant{CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    Constant{CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 0},
    Constant{CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, 1},
    Constant{CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED, 1},
    Constant{CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
    Constant{CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
    Constant{CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, 1},
    Constant{CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, 1},
    Constant{CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST, 1},
    Constant{CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1},
    Constant{CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, 1},
    Constant{CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD, 0},
    Constant{CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID, 0},
    Constant{CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED, 0},
    Constant{CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 0},
    Constant{CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 0},
    Constant{CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
    Constant{CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0},
    Constant{CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED, 0},
    Constant{CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1},
    Constant{CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, 0},
    Constant{CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0},
    Constant{CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, 0},
};

constexpr std::array kColumns{
    Column{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &Target::major},
    Column{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &Target::minor},
    Column{CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &Target::multiprocessors},
    Column{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &Target::shared_bytes_per_block},
    Column{CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, &Target::shared_bytes_per_multiprocessor},
    Column{CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, &Target::threads_per_multiprocessor},
    Column{CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, &Target::blocks_per_multiprocessor},
    Column{CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &Target::l2_bytes},
    Column{CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &Target::clock_khz},
    Column{CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, &Target::memory_clock_khz},
    Column{CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, &Target::memory_bus_bits},
};

}  // namespace

std::optional<int> device_attribute(const Target& target, CUdevice_attribute attribute) noexcept {
  for (const Constant& row : kConstants) {
    if (row.attribute == attribute) return row.value;
  }
  for (const Column& row : kColumns) {
    if (row.attribute == attribute) return target.*row.value;
  }
  return std::nullopt;
}

}  // namespace tilegym::cpu
