#pragma once

#include "cpu_driver/api/report.h"

/// Copies and fills of up to three dimensions in linear memory. Overlapping copies are allowed, as on a GPU.
namespace tilegym::cpu {

/// Fails for arrays, pitches below the width, null addresses and spans that leave the allocation they start in.
CUresult check_box(const CUDA_MEMCPY3D& copy);
CUresult check_box(const CUDA_MEMSET_NODE_PARAMS& fill);

/// Precondition: check_box() accepts it.
void copy_box(const CUDA_MEMCPY3D& copy) noexcept;
void fill_box(const CUDA_MEMSET_NODE_PARAMS& fill) noexcept;

/// What a side of a linear copy is to the program; all of it is memory of the host.
struct CopyEnd {
  CUmemorytype type;
  CUdeviceptr address;
};
[[nodiscard]] CUDA_MEMCPY3D linear_copy(CopyEnd to, CopyEnd from, std::size_t bytes) noexcept;
[[nodiscard]] CUDA_MEMCPY3D box_of(const CUDA_MEMCPY2D& copy) noexcept;

/// Address of the first byte that the copy reads or writes.
[[nodiscard]] CUdeviceptr source_of(const CUDA_MEMCPY3D& copy) noexcept;
[[nodiscard]] CUdeviceptr destination_of(const CUDA_MEMCPY3D& copy) noexcept;

}  // namespace tilegym::cpu
