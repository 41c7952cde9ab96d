#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "common/result.h"
#include "runtime/kernel_abi.h"
#include "runtime/manifest.h"
#include "runtime/tensor.h"

namespace tilegym::runtime {

/// Room for the descriptors of a call, left uninitialised: clearing it would cost more than a short call.
union DescriptorRoom {
  DescriptorRoom() noexcept {}
  std::array<TensorDesc, kMaxTensors> rows;
};

/// The arguments of one call of an op, checked as they come in and kept without allocation. Parameters are numbered as
/// in the manifest. Error texts open with op and parameter. Set each passed parameter once, then complete(), then
/// invoke(); tensors stay the caller's. Used by one thread; neither copied nor moved, since arguments point into it.
class OpCall {
 public:
  /// `op` must have passed check_manifest.
  explicit OpCall(const OpRow& op) noexcept : op_(op) {}
  OpCall(const OpCall&) = delete;
  OpCall& operator=(const OpCall&) = delete;

  [[nodiscard]] Status set_tensor(std::size_t param, const dlpack::Tensor& tensor);
  /// For i32 and i64 parameters.
  [[nodiscard]] Status set_integer(std::size_t param, std::int64_t value);
  /// For f32 parameters.
  [[nodiscard]] Status set_floating(std::size_t param, double value);
  /// Takes the default; the error says that the parameter has none.
  [[nodiscard]] Status set_default(std::size_t param);

  [[nodiscard]] const OpRow& op() const noexcept { return op_; }
  /// The arguments set so far, by parameter.
  [[nodiscard]] std::span<const Arg> arguments() const noexcept { return {arguments_.data(), op_.param_count}; }
  /// The device all tensors lie on; the CPU for an op without tensors.
  [[nodiscard]] Device device() const noexcept { return device_.value_or(Device{}); }
  /// Fills in device and stream.
  void complete(std::uint64_t stream) noexcept;
  /// Runs the op and returns its code.
  [[nodiscard]] std::int32_t invoke() const noexcept { return op_.packed(arguments_.data(), op_.param_count); }

 private:
  [[nodiscard]] Error argument_error(std::size_t param, const std::string& text) const;
  [[nodiscard]] Status join_device(std::size_t param, Device device);

  const OpRow& op_;
  std::optional<Device> device_;
  std::size_t device_param_ = 0;  ///< the parameter that decided device_
  std::size_t tensors_ = 0;
  std::array<Arg, kMaxParams> arguments_;  // left uninitialised, as the descriptors
  DescriptorRoom descriptors_;
};

}  // namespace tilegym::runtime
