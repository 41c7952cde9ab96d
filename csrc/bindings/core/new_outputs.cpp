#include "bindings/core/new_outputs.h"

#include <algorithm>

#include "bindings/core/plain_arguments.h"
#include "bindings/core/torch_module.h"

namespace tilegym::bindings {

namespace dlpack = runtime::dlpack;

namespace {

/// Whether torch made a tensor with memory; a mode of torch may make something else of it. False with an exception set.
bool is_tensor(PyObject* object) noexcept {
  if (Py_TYPE(object) == TorchNames::get().tensor) return true;
  PyErr_Format(PyExc_RuntimeError, "torch.empty: wanted a torch.Tensor for the output, got %s; leave the mode of torch",
               Py_TYPE(object)->tp_name);
  return false;
}

}  // namespace

PyObject* OutputSpec::allocate() const noexcept {
  const TorchNames& torch = TorchNames::get();
  PyObject* const values[] = {shape.ptr(), dtype.ptr(), device.ptr()};
  return PyObject_Vectorcall(torch.empty, values, 1, torch.empty_keywords);
}

NewOutputs::~NewOutputs() {
  for (std::size_t i = 0; i < count_; ++i) {
    if (bridge_ == nullptr) {
      Py_XDECREF(objects_[i]);
    } else if (tensors_[i] != nullptr) {
      bridge_->drop(tensors_[i]);
    }
  }
}

bool NewOutputs::prepare(const dlpack::ExchangeApi& api) noexcept {
  const TorchBridge* bridge = torch_bridge();
  const auto has_model = [](const OutputSpec& spec) { return spec.model != nullptr; };
  if (bridge != nullptr && std::ranges::all_of(specs_, has_model)) {
    bridge_ = bridge;
    return true;
  }
  for (const OutputSpec& spec : specs_) {
    PyObject* object = spec.allocate();
    if (object == nullptr) return false;
    dlpack::Tensor tensor;
    objects_[count_++] = object;
    if (!is_tensor(object) || api.tensor_from_object(object, &tensor) != 0) return false;
    addresses_[count_ - 1] = reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset;
    if (bridge == nullptr) continue;
    if (TensorModel* model = bridge->model_of(object)) spec.model = {model, bridge->drop_model};
  }
  return true;
}

bool NewOutputs::make(Addresses& addresses) noexcept {
  for (std::size_t i = 0; bridge_ != nullptr && i < specs_.size(); ++i) {
    void* data = nullptr;
    MadeTensor* made = bridge_->make(specs_[i].model.get(), &data);
    if (made == nullptr) return false;
    tensors_[count_] = made;
    addresses_[count_++] = reinterpret_cast<std::uintptr_t>(data);
  }
  for (std::size_t i = 0; i < count_; ++i) addresses.push(addresses_[i]);
  return true;
}

PyObject* NewOutputs::take(std::size_t index) noexcept {
  if (bridge_ == nullptr) return std::exchange(objects_[index], nullptr);
  return bridge_->wrap(std::exchange(tensors_[index], nullptr));
}

PyObject* NewOutputs::result() noexcept {
  if (count_ == 1) return take(0);
  PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(count_));
  for (std::size_t i = 0; tuple != nullptr && i < count_; ++i) {
    PyObject* output = take(i);
    if (output == nullptr) Py_CLEAR(tuple);
    if (output != nullptr) PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), output);
  }
  return tuple;
}

}  // namespace tilegym::bindings
