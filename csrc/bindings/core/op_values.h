#pragma once

#include <Python.h>

#include <cstddef>

#include "runtime/dlpack.h"
#include "runtime/op_call.h"

namespace tilegym::bindings {

/// torch's current stream on a device; 0 for the CPU. False with an exception set. Needs the GIL.
[[nodiscard]] bool current_stream(const runtime::dlpack::ExchangeApi& api, runtime::Device device,
                                  std::uint64_t& stream);

/// Hands Python values to an OpCall, by the kind of the parameter. Needs the GIL.
class ValuePasser {
 public:
  ValuePasser(const runtime::OpRow& op, runtime::OpCall& call) noexcept : op_(op), call_(call) {}

  /// Passes one value; null takes the parameter's default. False with TypeError or ValueError set.
  [[nodiscard]] bool pass(std::size_t param, PyObject* value);

  /// The exchange API of the last tensor; null before there was one.
  [[nodiscard]] const runtime::dlpack::ExchangeApi* api() const noexcept { return api_; }

 private:
  [[nodiscard]] bool pass_tensor(std::size_t param, PyObject* value);
  [[nodiscard]] bool pass_integer(std::size_t param, PyObject* value);
  [[nodiscard]] bool pass_floating(std::size_t param, PyObject* value);
  [[nodiscard]] bool pass_default(std::size_t param);
  [[nodiscard]] bool wrong_type(std::size_t param, PyObject* value, const char* wanted) const;

  const runtime::OpRow& op_;
  runtime::OpCall& call_;
  const runtime::dlpack::ExchangeApi* api_ = nullptr;  ///< of the last tensor
};

}  // namespace tilegym::bindings
