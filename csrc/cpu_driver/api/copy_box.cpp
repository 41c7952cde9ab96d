#include "cpu_driver/api/copy_box.h"

#include <cstdint>
#include <cstring>
#include <string>

#include "cpu_driver/api/memory.h"

namespace tilegym::cpu {
namespace {

/// One side of a copy; both structs of the API spell it with their own prefix.
struct Side {
  const char* name;
  CUmemorytype type;
  std::uintptr_t base;
  std::size_t x, y, z, lod;
  std::size_t pitch, rows;

  [[nodiscard]] std::size_t slice() const noexcept { return pitch * rows; }
  [[nodiscard]] std::uintptr_t begin() const noexcept { return base + x + y * pitch + z * slice(); }
};

std::uintptr_t base_of(CUmemorytype type, const void* host, CUdeviceptr device) noexcept {
  return type == CU_MEMORYTYPE_HOST ? reinterpret_cast<std::uintptr_t>(host) : device;
}

Side source(const CUDA_MEMCPY3D& c) noexcept {
  return {"source",      c.srcMemoryType, base_of(c.srcMemoryType, c.srcHost, c.srcDevice),
          c.srcXInBytes, c.srcY,          c.srcZ,
          c.srcLOD,      c.srcPitch,      c.srcHeight};
}
Side destination(const CUDA_MEMCPY3D& c) noexcept {
  return {"destination", c.dstMemoryType, base_of(c.dstMemoryType, c.dstHost, c.dstDevice),
          c.dstXInBytes, c.dstY,          c.dstZ,
          c.dstLOD,      c.dstPitch,      c.dstHeight};
}

/// Sums and products of sizes that callers chose freely; an overflow sticks.
class Checked {
 public:
  Checked(std::size_t value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  Checked operator+(Checked other) const {
    return combined(other, __builtin_add_overflow(value_, other.value_, &other.value_));
  }
  Checked operator*(Checked other) const {
    return combined(other, __builtin_mul_overflow(value_, other.value_, &other.value_));
  }
  [[nodiscard]] bool overflows() const noexcept { return overflows_; }
  [[nodiscard]] std::size_t value() const noexcept { return value_; }

 private:
  [[nodiscard]] Checked combined(Checked result, bool overflow) const {
    result.overflows_ = result.overflows_ || overflows_ || overflow;
    return result;
  }
  std::size_t value_;
  bool overflows_ = false;
};

CUresult check_extent(std::uintptr_t base, Checked first, Checked last, const char* what) {
  const Checked end = Checked(base) + first + last;
  if (end.overflows()) return fail(CUDA_ERROR_INVALID_VALUE, std::string(what) + ": the span leaves the address space");
  return check_span(base + first.value(), last.value(), what);
}

CUresult check_side(const Side& side, std::size_t width, std::size_t height, std::size_t depth) {
  const std::string name = side.name;
  if (side.type == CU_MEMORYTYPE_ARRAY) return fail(CUDA_ERROR_NOT_SUPPORTED, name + ": arrays are not available");
  if (side.type != CU_MEMORYTYPE_HOST && side.type != CU_MEMORYTYPE_DEVICE && side.type != CU_MEMORYTYPE_UNIFIED) {
    return fail(CUDA_ERROR_INVALID_VALUE, name + ": the memory type is unknown");
  }
  if (side.lod != 0) return fail(CUDA_ERROR_INVALID_VALUE, name + ": wanted level of detail 0");
  const bool short_row = (height > 1 || depth > 1) && (Checked(side.x) + width).value() > side.pitch;
  if (short_row) return fail(CUDA_ERROR_INVALID_VALUE, name + ": the pitch is below the width");
  if (depth > 1 && side.y + height > side.rows) {
    return fail(CUDA_ERROR_INVALID_VALUE, name + ": the height of a slice is below the height copied");
  }
  const Checked slice = Checked(side.pitch) * side.rows;
  const Checked first = Checked(side.x) + Checked(side.y) * side.pitch + Checked(side.z) * slice;
  const Checked last = slice * (depth - 1) + Checked(side.pitch) * (height - 1) + width;
  return check_extent(side.base, first, last, side.name);
}

bool packed(const Side& side, std::size_t width, std::size_t height) noexcept {
  return side.pitch == width && side.rows == height;
}

}  // namespace

CUresult check_box(const CUDA_MEMCPY3D& copy) {
  if (copy.WidthInBytes == 0 || copy.Height == 0 || copy.Depth == 0) return CUDA_SUCCESS;
  TILEGYM_CU_TRY(check_side(destination(copy), copy.WidthInBytes, copy.Height, copy.Depth));
  return check_side(source(copy), copy.WidthInBytes, copy.Height, copy.Depth);
}

CUresult check_box(const CUDA_MEMSET_NODE_PARAMS& fill) {
  if (fill.elementSize != 1 && fill.elementSize != 2 && fill.elementSize != 4) {
    return fail(CUDA_ERROR_INVALID_VALUE, "element size: wanted 1, 2 or 4, got " + std::to_string(fill.elementSize));
  }
  if (fill.width == 0 || fill.height == 0) return CUDA_SUCCESS;
  const Checked width = Checked(fill.width) * fill.elementSize;
  if (width.overflows()) return fail(CUDA_ERROR_INVALID_VALUE, "the number of elements overflows");
  if (fill.dst % fill.elementSize != 0 || (fill.height > 1 && fill.pitch % fill.elementSize != 0)) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the address is not a multiple of the element");
  }
  if (fill.height > 1 && fill.pitch < width.value()) {
    return fail(CUDA_ERROR_INVALID_VALUE, "destination: the pitch is below the width");
  }
  return check_extent(fill.dst, 0, Checked(fill.pitch) * (fill.height - 1) + width, "destination");
}

void copy_box(const CUDA_MEMCPY3D& copy) noexcept {
  const std::size_t width = copy.WidthInBytes;
  if (width == 0 || copy.Height == 0 || copy.Depth == 0) return;
  const Side from = source(copy);
  const Side to = destination(copy);
  const bool whole = packed(from, width, copy.Height) && packed(to, width, copy.Height);
  const std::size_t rows = whole ? 1 : copy.Height;
  const std::size_t slices = whole ? 1 : copy.Depth;
  const std::size_t bytes = whole ? width * copy.Height * copy.Depth : width;
  for (std::size_t z = 0; z < slices; ++z) {
    for (std::size_t y = 0; y < rows; ++y) {
      std::memmove(reinterpret_cast<void*>(to.begin() + z * to.slice() + y * to.pitch),
                   reinterpret_cast<const void*>(from.begin() + z * from.slice() + y * from.pitch), bytes);
    }
  }
}

void fill_box(const CUDA_MEMSET_NODE_PARAMS& fill) noexcept {
  if (fill.width == 0) return;  // of a null pointer not even nothing may be set
  for (std::size_t y = 0; y < fill.height; ++y) {
    auto* row = reinterpret_cast<std::byte*>(fill.dst + y * fill.pitch);
    if (fill.elementSize == 1) {
      std::memset(row, static_cast<int>(fill.value & 0xFFU), fill.width);
      continue;
    }
    for (std::size_t x = 0; x < fill.width; ++x) std::memcpy(row + x * fill.elementSize, &fill.value, fill.elementSize);
  }
}

CUDA_MEMCPY3D linear_copy(CopyEnd to, CopyEnd from, std::size_t bytes) noexcept {
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = from.type;
  copy.srcHost = reinterpret_cast<const void*>(from.address);
  copy.srcDevice = from.address;
  copy.dstMemoryType = to.type;
  copy.dstHost = reinterpret_cast<void*>(to.address);
  copy.dstDevice = to.address;
  copy.srcPitch = copy.dstPitch = copy.WidthInBytes = bytes;
  copy.srcHeight = copy.dstHeight = copy.Height = copy.Depth = 1;
  return copy;
}

CUDA_MEMCPY3D box_of(const CUDA_MEMCPY2D& copy) noexcept {
  CUDA_MEMCPY3D box{};
  box.srcXInBytes = copy.srcXInBytes;
  box.srcY = copy.srcY;
  box.srcMemoryType = copy.srcMemoryType;
  box.srcHost = copy.srcHost;
  box.srcDevice = copy.srcDevice;
  box.srcArray = copy.srcArray;
  box.srcPitch = copy.srcPitch;
  box.dstXInBytes = copy.dstXInBytes;
  box.dstY = copy.dstY;
  box.dstMemoryType = copy.dstMemoryType;
  box.dstHost = copy.dstHost;
  box.dstDevice = copy.dstDevice;
  box.dstArray = copy.dstArray;
  box.dstPitch = copy.dstPitch;
  box.WidthInBytes = copy.WidthInBytes;
  box.Height = copy.Height;
  box.Depth = 1;
  return box;
}

CUdeviceptr source_of(const CUDA_MEMCPY3D& copy) noexcept {
  return source(copy).begin();
}
CUdeviceptr destination_of(const CUDA_MEMCPY3D& copy) noexcept {
  return destination(copy).begin();
}

}  // namespace tilegym::cpu
