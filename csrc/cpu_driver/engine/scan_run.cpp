#include <algorithm>
#include <cstring>

#include "cpu_driver/engine/tile_steps.h"

namespace tilegym::cpu {
namespace {

/// Lanes that are scanned side by side: neighbours along the inner dimension, or, where that has extent 1, rows.
class ScanRun {
 public:
  ScanRun(const ScanStep& step, Frame& frame) : step_(step), frame_(frame) {
    frame.at.resize(std::max(frame.at.size(), step.body.locations.size()));
    for (std::size_t i = 0; i < step.body.locations.size(); ++i) {
      const Location& location = step.body.locations[i];
      frame.at[i] = location.kind == LocationKind::slot ? reinterpret_cast<std::byte*>(&frame.slots[location.index])
                                                        : frame.registers + location.index;
    }
  }

  void run() {
    const bool rows = step_.inner == 1;
    const std::int64_t width = rows ? step_.outer : step_.inner;
    lane_stride_ = rows ? step_.count : 1;
    for (std::int64_t outer = 0; outer < (rows ? 1 : step_.outer); ++outer) {
      for (std::int64_t first = 0; first < width; first += static_cast<std::int64_t>(kStripLanes)) {
        lanes_ = std::min<std::size_t>(kStripLanes, static_cast<std::size_t>(width - first));
        scan(outer * step_.count * step_.inner + first * lane_stride_);
      }
    }
  }

 private:
  void scan(std::int64_t origin) {
    for (std::int64_t i = 0; i < step_.count; ++i) {
      const std::int64_t first = origin + (step_.reverse ? step_.count - 1 - i : i) * step_.inner;
      i == 0 ? begin(first) : advance(first);
    }
  }

  /// The first prefix is the first element, as in a reduction.
  void begin(std::int64_t first) {
    for (const ScannedOperand& operand : step_.operands) {
      const std::size_t bytes = lane_bytes(operand.lane);
      move(frame_.at[operand.accumulator], frame_.buffers[operand.source], first, bytes, true);
      move(frame_.at[operand.accumulator], frame_.buffers[operand.result], first, bytes, false);
    }
  }

  void advance(std::int64_t first) {
    for (const ScannedOperand& operand : step_.operands) {
      move(frame_.at[operand.element], frame_.buffers[operand.source], first, lane_bytes(operand.lane), true);
    }
    for (const Instr& instr : step_.body.instrs) combine(instr);
    for (const ScannedOperand& operand : step_.operands) {
      operand.copy(frame_.at[operand.accumulator], frame_.at[operand.yielded], nullptr, nullptr, lanes_);
    }
    for (const ScannedOperand& operand : step_.operands) {
      move(frame_.at[operand.accumulator], frame_.buffers[operand.result], first, lane_bytes(operand.lane), false);
    }
  }

  void combine(const Instr& instr) {
    const auto at = [this](LocationId id) { return id == kNoLocation ? nullptr : frame_.at[id]; };
    if (const auto* compute = std::get_if<ComputeInstr>(&instr)) {
      compute->fn(at(compute->dst), at(compute->a), at(compute->b), at(compute->c), lanes_);
    } else if (const auto* move = std::get_if<MoveInstr>(&instr)) {
      move->fn(at(move->dst), at(move->src), lanes_);
    }
  }

  /// Lanes between a register and every lane_stride_-th element of a buffer.
  void move(std::byte* lanes, std::byte* buffer, std::int64_t first, std::size_t bytes, bool to_register) const {
    std::byte* element = buffer + first * static_cast<std::int64_t>(bytes);
    const std::int64_t stride = lane_stride_ * static_cast<std::int64_t>(bytes);
    if (lane_stride_ == 1) {
      std::memcpy(to_register ? lanes : element, to_register ? element : lanes, lanes_ * bytes);
      return;
    }
    for (std::size_t i = 0; i < lanes_; ++i, lanes += bytes, element += stride) {
      std::memcpy(to_register ? lanes : element, to_register ? element : lanes, bytes);
    }
  }

  const ScanStep& step_;
  Frame& frame_;
  std::int64_t lane_stride_ = 1;
  std::size_t lanes_ = 0;
};

}  // namespace

void run_scan(const ScanStep& step, Frame& frame) {
  ScanRun(step, frame).run();
}

void run_recode(const RecodeStep& step, Frame& frame) {
  std::byte* dst = frame.buffers[step.dst];
  const std::byte* src = frame.buffers[step.src];
  for (std::int64_t first = 0; first < step.count; first += static_cast<std::int64_t>(kStripLanes)) {
    const auto lanes = std::min<std::size_t>(kStripLanes, static_cast<std::size_t>(step.count - first));
    step.fn(dst, src, lanes);
    dst += step.dst_strip_bytes;
    src += step.src_strip_bytes;
  }
}

}  // namespace tilegym::cpu
