#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/result.h"
#include "runtime/call_key.h"
#include "runtime/op_call.h"

namespace tilegym::runtime {

/// A launch that can be made again with other memory: the arguments of a call that has been checked, in which each
/// tensor is a view of one of the caller's tensors. Immutable; any thread may run it.
class LaunchPlan {
 public:
  /// Reads the plan off a completed call. `memory` is that of the caller's tensors, of which each tensor of the call
  /// must be a view; nothing where one is not, such as a copy.
  [[nodiscard]] static std::optional<LaunchPlan> of(const OpCall& call, std::span<const MemorySpan> memory);

  [[nodiscard]] Device device() const noexcept { return device_; }
  /// Launches with element 0 of the caller's tensors at `addresses`, in the order of `of`. Returns the op's code.
  [[nodiscard]] std::int32_t launch(std::span<const std::uint64_t> addresses, std::uint64_t stream) const noexcept;

 private:
  struct View {
    std::size_t param;
    std::optional<std::size_t> tensor;  ///< of the caller; none: without elements, its address is of no use
    std::uint64_t offset;               ///< bytes from its element 0, modulo 2^64
    TensorDesc desc;
  };

  LaunchPlan(const OpRow& op, Device device) noexcept : op_(&op), device_(device) {}

  const OpRow* op_;
  Device device_;
  std::vector<Arg> arguments_;  ///< in the order of the parameters; tensors and the stream are filled in per launch
  std::vector<View> views_;
  std::optional<std::size_t> stream_param_;
};

}  // namespace tilegym::runtime
