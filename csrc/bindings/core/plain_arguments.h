#pragma once

#include <Python.h>

#include <cstddef>

#include "runtime/call_key.h"
#include "runtime/dlpack.h"

namespace tilegym::bindings {

/// The names that planned calls need from torch, looked up once.
struct TorchNames {
  PyTypeObject* tensor;
  PyTypeObject* parameter;
  PyTypeObject* dtype;
  PyObject* empty;            ///< torch.empty
  PyObject* is_grad_enabled;  ///< torch.is_grad_enabled
  PyObject* dispatch_modes;   ///< counts the modes that look at every operator
  PyObject* forward_ad;       ///< torch.autograd.forward_ad
  PyObject* requires_grad;    ///< the text
  PyObject* is_neg;           ///< the text
  PyObject* current_level;    ///< the text "_current_level"
  PyObject* empty_keywords;   ///< ("dtype", "device")

  /// Throws where torch cannot be imported. Needs the GIL.
  [[nodiscard]] static const TorchNames& get();
};

/// The arguments of a call as far as a plan may depend on them.
class PlainArguments {
 public:
  /// Reads the arguments of a vectorcall. False, with no exception set, where a plan would have to depend on more than
  /// a key holds: tensors of other types than torch.Tensor and Parameter, those that want a gradient while gradients
  /// are on, negated views, those with a tangent, modes that look at every operator, and objects that are no numbers,
  /// dtypes or interned texts.
  [[nodiscard]] bool read(PyObject* const* arguments, std::size_t positional, PyObject* names) noexcept;

  [[nodiscard]] const runtime::CallKey& key() const noexcept { return key_; }
  [[nodiscard]] const runtime::dlpack::ExchangeApi* api() const noexcept { return api_; }

 private:
  [[nodiscard]] bool read_value(PyObject* value, const TorchNames& torch) noexcept;
  [[nodiscard]] bool read_tensor(PyObject* value, const TorchNames& torch) noexcept;

  runtime::CallKey key_;
  const runtime::dlpack::ExchangeApi* api_ = nullptr;
};

}  // namespace tilegym::bindings
