#pragma once

#include <pybind11/pybind11.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "bindings/torch_bridge.h"
#include "runtime/call_key.h"
#include "runtime/manifest.h"

/// The tensors that a planned call makes for its caller.
namespace tilegym::bindings {

/// A new dense tensor.
struct OutputSpec {
  pybind11::object shape;
  pybind11::object dtype;
  pybind11::object device;
  /// For libtorch, once there was a tensor to read it off.
  mutable std::shared_ptr<TensorModel> model;

  OutputSpec(pybind11::object its_shape, pybind11::object its_dtype, pybind11::object its_device)
      : shape(std::move(its_shape)), dtype(std::move(its_dtype)), device(std::move(its_device)) {}

  /// A new reference, or null with an exception set. Needs the GIL.
  [[nodiscard]] PyObject* allocate() const noexcept;
};

/// Addresses of the tensors of a call: the caller's, then the new ones.
class Addresses {
 public:
  explicit Addresses(std::span<const runtime::MemorySpan> callers) noexcept {
    for (const runtime::MemorySpan& span : callers) push(span.address);
  }
  void push(std::uint64_t address) noexcept { values_[count_++] = address; }
  [[nodiscard]] std::span<const std::uint64_t> all() const noexcept { return {values_.data(), count_}; }

 private:
  std::size_t count_ = 0;
  std::array<std::uint64_t, runtime::CallKey::kMaxKeyTensors + runtime::kMaxTensors> values_;
};

/// The new tensors of one call: prepare, make, then result, of which only `make` works without the GIL. Allocates
/// nothing but the tensors.
class NewOutputs {
 public:
  explicit NewOutputs(const std::vector<OutputSpec>& specs) noexcept : specs_(specs) {}
  ~NewOutputs();
  NewOutputs(const NewOutputs&) = delete;
  NewOutputs& operator=(const NewOutputs&) = delete;

  /// Makes the tensors through Python where libtorch cannot yet. False with an exception set.
  [[nodiscard]] bool prepare(const runtime::dlpack::ExchangeApi& api) noexcept;
  /// Makes the others and appends the addresses of all. False where there is no memory.
  [[nodiscard]] bool make(Addresses& addresses) noexcept;
  /// Null, with the error of a failed `make` set.
  [[nodiscard]] PyObject* raise() const noexcept { return bridge_->wrap(nullptr); }
  /// A new reference to the one output or to a tuple of them; null with an exception set.
  [[nodiscard]] PyObject* result() noexcept;

 private:
  [[nodiscard]] PyObject* take(std::size_t index) noexcept;

  const std::vector<OutputSpec>& specs_;
  const TorchBridge* bridge_ = nullptr;  ///< null: the tensors come from Python
  std::size_t count_ = 0;
  std::array<PyObject*, runtime::kMaxTensors> objects_;    // of Python, or
  std::array<MadeTensor*, runtime::kMaxTensors> tensors_;  // of libtorch; null: used up
  std::array<std::uint64_t, runtime::kMaxTensors> addresses_;
};

}  // namespace tilegym::bindings
