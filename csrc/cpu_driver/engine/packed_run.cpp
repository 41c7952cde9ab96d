#include <algorithm>
#include <cstring>

#include "cpu_driver/engine/access.h"
#include "cpu_driver/engine/tile_steps.h"

namespace tilegym::cpu {
namespace {

class PackedRun {
 public:
  PackedRun(const PackedStep& step, Frame& frame)
      : step_(step), frame_(frame), inner_(step.extents.back()), lanes_(frame.buffers[step.buffer]) {
    frame.index.assign(step.extents.size() - 1, 0);
  }

  bool run() {
    do {
      place_row(step_.access, frame_.index, inner_, frame_, row_);
      if (!row_allowed()) return false;
      for (std::int64_t first = 0; first < inner_; first += kLanes) {
        step_.stores ? store_strip(first) : load_strip(first);
      }
      lanes_ += inner_ * step_.lane_bytes;
    } while (next_row());
    return true;
  }

 private:
  static constexpr auto kLanes = static_cast<std::int64_t>(kStripLanes);

  bool next_row() {
    for (std::size_t d = frame_.index.size(); d-- > 0;) {
      if (++frame_.index[d] < step_.extents[d]) return true;
      frame_.index[d] = 0;
    }
    return false;
  }

  [[nodiscard]] std::int64_t half_byte(std::int64_t lane) const {
    return static_cast<std::int64_t>(row_.address) + lane * row_.stride;
  }
  bool row_allowed() {
    if (frame_.memory == nullptr || row_.begin >= row_.end) return true;
    const auto [low, high] = std::minmax(half_byte(row_.begin) >> 1, half_byte(row_.end - 1) >> 1);
    if (frame_.memory->contains(static_cast<std::uintptr_t>(low), static_cast<std::uintptr_t>(high) + 1)) return true;
    for (std::int64_t i = row_.begin; i < row_.end; ++i) {
      if (!frame_.allowed(static_cast<std::uintptr_t>(half_byte(i) >> 1), 1, step_.access.place)) return false;
    }
    return true;
  }

  /// Lanes of the strip from `first` that are in bounds.
  struct Part {
    std::int64_t begin;
    std::int64_t count;
  };
  [[nodiscard]] Part part_of(std::int64_t first) const {
    const std::int64_t end = std::min({first + kLanes, inner_, row_.end});
    const std::int64_t begin = std::max(first, row_.begin);
    return {begin, std::max<std::int64_t>(0, end - begin)};
  }
  /// Where the part lies in whole bytes, or null.
  [[nodiscard]] std::byte* whole_bytes(const Part& part) const {
    const std::int64_t start = half_byte(part.begin);
    const bool whole = row_.stride == 1 && start % 2 == 0 && part.count % 2 == 0;
    return whole ? reinterpret_cast<std::byte*>(start >> 1) : nullptr;
  }
  void fill_addresses(const Part& part) {
    for (std::int64_t i = 0; i < part.count; ++i) frame_.addresses[i] = half_byte(part.begin + i);
  }

  // Kernels work on aligned lanes and may write past them, so both ways lead through the spare strip.
  void load_strip(std::int64_t first) {
    const auto total = static_cast<std::size_t>(std::min(kLanes, inner_ - first));
    const Part part = part_of(first);
    std::byte* lanes = lanes_ + first * step_.lane_bytes;
    if (part.count < static_cast<std::int64_t>(total)) {
      step_.fill(frame_.spare, &frame_.slots[step_.padding], nullptr, nullptr, total);
      std::memcpy(lanes, frame_.spare, total * step_.lane_bytes);
    }
    if (part.count == 0) return;
    const auto count = static_cast<std::size_t>(part.count);
    if (const std::byte* bytes = whole_bytes(part)) {
      step_.load(frame_.spare, bytes, count);
    } else {
      fill_addresses(part);
      step_.gather(frame_.spare, frame_.addresses, nullptr, nullptr, count);
    }
    std::memcpy(lanes_ + part.begin * step_.lane_bytes, frame_.spare, count * step_.lane_bytes);
  }

  void store_strip(std::int64_t first) {
    const Part part = part_of(first);
    if (part.count == 0) return;
    const auto count = static_cast<std::size_t>(part.count);
    std::memcpy(frame_.spare, lanes_ + part.begin * step_.lane_bytes, count * step_.lane_bytes);
    if (std::byte* bytes = whole_bytes(part)) {
      step_.store(bytes, frame_.spare, count);
    } else {
      fill_addresses(part);
      step_.scatter(frame_.addresses, frame_.spare, nullptr, count);
    }
  }

  const PackedStep& step_;
  Frame& frame_;
  const std::int64_t inner_;
  std::byte* lanes_;
  RowAccess row_;
};

}  // namespace

bool run_packed(const PackedStep& step, Frame& frame) {
  return PackedRun(step, frame).run();
}

}  // namespace tilegym::cpu
