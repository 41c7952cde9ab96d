#pragma once

#include <Python.h>

#include <cstddef>

#include "runtime/dlpack.h"
#include "runtime/op_call.h"

namespace tilegym::bindings {

/// Hands Python values to an OpCall, by the kind of the parameter. Needs the GIL.
class ValuePasser {
 public:
  ValuePasser(const runtime::OpRow& op, runtime::OpCall& call) noexcept : op_(op), call_(call) {}

  /// Passes one value; null takes the parameter's default. False with TypeError or ValueError set.
  [[nodiscard]] bool pass(std::size_t param, PyObject* value);

  /// torch's current stream on the device of the tensors; 0 for the CPU. False with an exception set.
  [[nodiscard]] bool current_stream(std::uint64_t& stream) const;

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
