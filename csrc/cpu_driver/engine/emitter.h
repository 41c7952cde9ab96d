#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "cpu_driver/engine/plan.h"

namespace tilegym::cpu {

/// Appends steps, slots and buffers to a plan under construction. Integer arithmetic on constant slots is folded;
/// buffers get arena offsets by liveness when the plan is finished.
class Emitter {
 public:
  explicit Emitter(Plan& plan) : plan_(plan), steps_(&plan.body) {}

  [[nodiscard]] SlotId new_slot();
  /// The slot that holds this bit pattern for the whole launch.
  [[nodiscard]] SlotId constant(std::int64_t bits);
  [[nodiscard]] std::optional<std::int64_t> constant_of(SlotId slot) const;
  [[nodiscard]] bool is_constant(SlotId slot, std::int64_t value) const { return constant_of(slot) == value; }

  /// The slot of fn(a, b, c); folded where all operands are constants.
  [[nodiscard]] SlotId scalar(ScalarFn fn, SlotId a, SlotId b, SlotId c);
  [[nodiscard]] SlotId scalar(ScalarFn fn, SlotId a, SlotId b) { return scalar(fn, a, b, a); }
  [[nodiscard]] SlotId add(SlotId a, SlotId b);
  [[nodiscard]] SlotId mul(SlotId a, SlotId b);
  /// The low `bits` bits of an integer slot as a non-negative number.
  [[nodiscard]] SlotId zero_extend(SlotId slot, int bits);
  /// dst = src for all pairs at once: sources are read before targets are written.
  void move_slots(const std::vector<std::pair<SlotId, SlotId>>& moves);

  [[nodiscard]] BufferId new_buffer(std::size_t bytes);
  /// A buffer with fixed contents, never reused for anything else.
  [[nodiscard]] BufferId constant_buffer(std::vector<std::byte> contents);
  /// A buffer of its own from the first step to the last.
  [[nodiscard]] BufferId lasting_buffer(std::size_t bytes);
  /// The buffer holds live data at the step that is appended next.
  void touch(BufferId buffer);

  template <class S>
  void append(S step) {
    steps_->push_back(Step(std::move(step)));
    ++position_;
  }
  /// Runs `fill` with a new list of steps as the current one. `repeats`: the list is a loop body, so buffers that were
  /// live before it and are touched inside stay live to its end.
  template <class Fill>
  auto nested(bool repeats, Steps& steps, Fill fill) {
    Steps* outer = std::exchange(steps_, &steps);
    const std::size_t begin = position_;
    auto status = fill();
    if (repeats) extend_over(begin);
    steps_ = outer;
    return status;
  }

  /// Assigns arena offsets: buffers whose lifetimes do not overlap share memory.
  void place_buffers();

 private:
  struct Lifetime {
    std::size_t bytes = 0;
    std::size_t first = 0;
    std::size_t last = 0;
    bool touched = false;
  };

  void extend_over(std::size_t begin);
  [[nodiscard]] std::size_t free_offset(const std::vector<BufferId>& placed, BufferId buffer) const;

  Plan& plan_;
  Steps* steps_;
  std::size_t position_ = 0;
  std::map<std::int64_t, SlotId> constants_;
  std::map<SlotId, std::int64_t> constant_values_;
  std::vector<Lifetime> lifetimes_;
};

}  // namespace tilegym::cpu
