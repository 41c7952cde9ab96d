#include "cpu_driver/engine/tile_copy.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "cpu_driver/engine/access.h"
#include "cpu_driver/engine/transpose.h"

namespace tilegym::cpu {
namespace {

/// One row of a copy: `count` elements from src to dst, strides in bytes.
struct RowCopy {
  std::byte* dst;
  const std::byte* src;
  std::int64_t dst_stride;
  std::int64_t src_stride;
  std::int64_t count;
};

template <class T>
void copy_strided(const RowCopy& row) {
  for (std::int64_t i = 0; i < row.count; ++i)
    std::memcpy(row.dst + i * row.dst_stride, row.src + i * row.src_stride, sizeof(T));
}

template <class T>
void fill_strided(std::byte* dst, std::int64_t stride, std::int64_t count, std::uint64_t bits) {
  for (std::int64_t i = 0; i < count; ++i) std::memcpy(dst + i * stride, &bits, sizeof(T));
}

/// The loops of one element size.
struct ElementLoops {
  void (*copy)(const RowCopy& row);
  void (*fill)(std::byte* dst, std::int64_t stride, std::int64_t count, std::uint64_t bits);
};

const ElementLoops& loops_for(std::uint32_t bytes) {
  static constexpr std::array<ElementLoops, 4> kLoops{
      ElementLoops{copy_strided<std::uint8_t>, fill_strided<std::uint8_t>},
      ElementLoops{copy_strided<std::uint16_t>, fill_strided<std::uint16_t>},
      ElementLoops{copy_strided<std::uint32_t>, fill_strided<std::uint32_t>},
      ElementLoops{copy_strided<std::uint64_t>, fill_strided<std::uint64_t>}};
  switch (bytes) {
    case 1:
      return kLoops[0];
    case 2:
      return kLoops[1];
    case 4:
      return kLoops[2];
    default:
      return kLoops[3];
  }
}

class Copy {
 public:
  Copy(const CopyStep& step, Frame& frame)
      : step_(step), frame_(frame), loops_(loops_for(step.element_bytes)), bytes_(step.element_bytes) {
    outer_rank_ = step.extents.empty() ? 0 : step.extents.size() - 1;
    inner_ = step.extents.empty() ? 1 : step.extents.back();
    frame.index.assign(outer_rank_, 0);
  }

  bool run() {
    if (transposes()) return run_planes();
    do {
      if (!(step_.src.in_memory ? row_from_memory() : row_from_buffer())) return false;
    } while (next_row());
    return true;
  }

 private:
  bool next_row() {
    for (std::size_t d = outer_rank_; d-- > 0;) {
      if (++frame_.index[d] < step_.extents[d]) return true;
      frame_.index[d] = 0;
    }
    return false;
  }

  [[nodiscard]] std::byte* row_of(const TileSide& side) const {
    std::int64_t offset = side.offset;
    for (std::size_t d = 0; d < outer_rank_; ++d) offset += side.strides[d] * frame_.index[d];
    for (const SliceIndex& slice : side.slices) {
      const auto index = static_cast<std::uint32_t>(frame_.slot(slice.index));
      if (index < slice.count) offset += static_cast<std::int64_t>(index) * slice.stride;
    }
    return frame_.buffers[side.buffer] + offset * bytes_;
  }
  [[nodiscard]] std::int64_t inner_stride(const TileSide& side) const {
    return side.strides.empty() ? bytes_ : side.strides.back() * bytes_;
  }

  /// Columns lie contiguous in the source and rows in the target: whole planes then go block by block. What may leave
  /// its bounds or its memory goes row by row.
  [[nodiscard]] bool transposes() const {
    if (outer_rank_ == 0 || step_.dst.strides.back() != 1) return false;
    if (!step_.src.in_memory) return step_.src.strides[outer_rank_ - 1] == 1 && step_.src.strides.back() > 1;
    const std::vector<SlotId>& strides = step_.src.access.address.strides;
    return frame_.slot(strides[outer_rank_ - 1]) == bytes_ && frame_.slot(strides.back()) > bytes_ &&
           fully_allowed(step_.src.access, step_.extents, frame_);
  }
  bool run_planes() {
    const std::int64_t rows = step_.extents[outer_rank_ - 1];
    do {
      transpose({.dst = row_of(step_.dst),
                 .dst_row_stride = step_.dst.strides[outer_rank_ - 1] * bytes_,
                 .src = plane_source(),
                 .src_column_stride = plane_column_stride(),
                 .rows = rows,
                 .columns = inner_},
                step_.element_bytes);
      frame_.index[outer_rank_ - 1] = rows - 1;
    } while (next_row());
    return true;
  }
  [[nodiscard]] const std::byte* plane_source() const {
    if (!step_.src.in_memory) return row_of(step_.src);
    return reinterpret_cast<const std::byte*>(evaluate(step_.src.access.address, frame_.index, frame_));
  }
  [[nodiscard]] std::int64_t plane_column_stride() const {
    return step_.src.in_memory ? frame_.slot(step_.src.access.address.strides.back()) : inner_stride(step_.src);
  }

  void copy(const RowCopy& row) const {
    if (row.dst_stride == bytes_ && row.src_stride == bytes_) {
      std::memcpy(row.dst, row.src, static_cast<std::size_t>(row.count * bytes_));
    } else {
      loops_.copy(row);
    }
  }
  bool row_from_buffer() {
    copy({row_of(step_.dst), row_of(step_.src), inner_stride(step_.dst), inner_stride(step_.src), inner_});
    return true;
  }
  bool row_from_memory() {
    RowAccess row;
    if (!start_row(step_.src.access, frame_.index, inner_, frame_, row)) return false;
    std::byte* dst = row_of(step_.dst);
    const std::int64_t stride = inner_stride(step_.dst);
    if (row.irregular) return irregular_row(dst, stride);
    loops_.fill(dst, stride, row.begin, step_.padding);
    loops_.fill(dst + row.end * stride, stride, inner_ - row.end, step_.padding);
    const auto* src = reinterpret_cast<const std::byte*>(row.address) + row.begin * row.stride;
    copy({dst + row.begin * stride, src, stride, row.stride, row.end - row.begin});
    return true;
  }

  bool irregular_row(std::byte* dst, std::int64_t stride) const {
    for (std::int64_t i = 0; i < inner_; ++i, dst += stride) {
      std::uintptr_t address = 0;
      const bool valid = lane_of_access(step_.src.access, frame_.index, i, frame_, address);
      std::memcpy(dst, valid ? reinterpret_cast<const void*>(address) : &step_.padding,
                  static_cast<std::size_t>(bytes_));
    }
    return true;
  }

  const CopyStep& step_;
  Frame& frame_;
  const ElementLoops& loops_;
  const std::int64_t bytes_;
  std::size_t outer_rank_ = 0;
  std::int64_t inner_ = 1;
};

}  // namespace

bool run_copy(const CopyStep& step, Frame& frame) {
  return Copy(step, frame).run();
}

}  // namespace tilegym::cpu
