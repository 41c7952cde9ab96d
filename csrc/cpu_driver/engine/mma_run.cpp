#include <algorithm>

#include "cpu_driver/engine/access.h"
#include "cpu_driver/engine/tile_copy.h"

namespace tilegym::cpu {
namespace {

/// An operand where the product reads it.
struct Operand {
  const std::byte* data = nullptr;
  std::int64_t row_stride = 0;    ///< elements
  std::int64_t batch_stride = 0;  ///< elements
};

/// The operand in memory, if it is in bounds, row-major and allowed as a whole.
bool in_place(const CopyStep& operand, const Frame& frame, Operand& result) {
  const Access& access = operand.src.access;
  const std::vector<SlotId>& strides = access.address.strides;
  const std::size_t rank = operand.extents.size();
  const auto bytes = static_cast<std::int64_t>(operand.element_bytes);
  const std::int64_t row = frame.slot(strides[rank - 2]);
  const std::int64_t batch = rank == 3 ? frame.slot(strides[0]) : 0;
  const bool unit = operand.extents[rank - 1] == 1 || frame.slot(strides[rank - 1]) == bytes;
  if (!unit || row % bytes != 0 || batch % bytes != 0 || row < 0 || batch < 0) return false;
  if (!fully_allowed(access, operand.extents, frame)) return false;
  const auto begin = static_cast<std::uintptr_t>(frame.slot(access.address.base));
  result = {reinterpret_cast<const std::byte*>(begin), row / bytes, batch / bytes};
  return true;
}

bool place(const CopyStep& operand, Frame& frame, Operand& result) {
  if (operand.src.in_memory) {
    if (in_place(operand, frame, result)) return true;
    if (!run_copy(operand, frame)) return false;
  }
  const std::size_t rank = operand.extents.size();
  result = {frame.buffers[operand.dst.buffer], operand.dst.strides[rank - 2], rank == 3 ? operand.dst.strides[0] : 0};
  return true;
}

}  // namespace

bool run_mma(const MmaStep& step, Frame& frame) {
  Operand lhs;
  Operand rhs;
  if (!place(step.operands[0], frame, lhs) || !place(step.operands[1], frame, rhs)) return false;
  std::byte* sum = frame.buffers[step.accumulator];
  const std::int64_t sum_bytes = step.m * step.n * step.accumulator_bytes;
  for (std::int64_t b = 0; b < step.batch; ++b) {
    const MatrixView left{lhs.data + b * lhs.batch_stride * step.element_bytes, lhs.row_stride};
    const MatrixView right{rhs.data + b * rhs.batch_stride * step.element_bytes, rhs.row_stride};
    step.fn(sum + b * sum_bytes, left, right, step.m, step.n, step.k, frame.buffers[step.scratch]);
  }
  return true;
}

}  // namespace tilegym::cpu
