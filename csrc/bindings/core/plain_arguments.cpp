#include "bindings/core/plain_arguments.h"

#include <pybind11/pybind11.h>

#include <bit>
#include <cstdint>

#include "bindings/core/tensor_exchange.h"
#include "bindings/core/torch_module.h"

namespace tilegym::bindings {
namespace {

namespace py = pybind11;

enum class Kind : std::uint64_t { position, keyword, object, integer, floating };

bool add(runtime::CallKey& key, Kind kind, std::uint64_t value) noexcept {
  return key.add(static_cast<std::uint64_t>(kind), value);
}
/// An object that is what it is by its address; the plan keeps it alive.
bool add(runtime::CallKey& key, Kind kind, PyObject* object) noexcept {
  return add(key, kind, reinterpret_cast<std::uintptr_t>(object));
}

bool is_interned(PyObject* value) noexcept {
  return PyUnicode_CheckExact(value) && PyUnicode_CHECK_INTERNED(value) != 0;
}

/// Whether a call without arguments gave True; false, with no exception set, where it failed.
bool is_true(PyObject* result) noexcept {
  if (result == nullptr) PyErr_Clear();
  Py_XDECREF(result);
  return result == Py_True;
}

bool is_negated(PyObject* tensor, const TorchNames& torch) noexcept {
  return is_true(PyObject_VectorcallMethod(torch.is_neg, &tensor, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr));
}

bool wants_gradient(PyObject* tensor, const TorchNames& torch) noexcept {
  if (!is_true(PyObject_GetAttr(tensor, torch.requires_grad))) return false;
  return is_true(PyObject_CallNoArgs(torch.is_grad_enabled));
}

/// Whether an object is an integer of at least a limit. Takes over the reference; clears an error.
bool is_at_least(PyObject* integer, long limit) noexcept {
  if (integer == nullptr) PyErr_Clear();
  const bool result = integer != nullptr && PyLong_Check(integer) && PyLong_AsLong(integer) >= limit;
  Py_XDECREF(integer);
  return result;
}

bool is_watched(const TorchNames& torch) noexcept {
  const TorchBridge* bridge = loaded_torch_bridge();
  return bridge != nullptr ? bridge->is_watched() : is_at_least(PyObject_CallNoArgs(torch.dispatch_modes), 1);
}

/// Whether tensors may have tangents.
bool is_forward_mode_on(const TorchNames& torch) noexcept {
  return is_at_least(PyObject_GetAttr(torch.forward_ad, torch.current_level), 0);
}

}  // namespace

const TorchNames& TorchNames::get() {
  // Lives as long as the process: the objects in it cannot be released once Python is gone.
  static const TorchNames& names = *[] {
    const auto torch = py::module_::import("torch");
    const auto type = [](py::object object) { return reinterpret_cast<PyTypeObject*>(object.release().ptr()); };
    py::object dispatch_modes = torch.attr("_C").attr("_len_torch_dispatch_stack");
    return new TorchNames{.tensor = type(torch.attr("Tensor")),
                          .parameter = type(torch.attr("nn").attr("Parameter")),
                          .dtype = type(torch.attr("dtype")),
                          .empty = torch.attr("empty").cast<py::object>().release().ptr(),
                          .is_grad_enabled = torch.attr("is_grad_enabled").cast<py::object>().release().ptr(),
                          .dispatch_modes = dispatch_modes.release().ptr(),
                          .forward_ad = py::module_::import("torch.autograd.forward_ad").release().ptr(),
                          .requires_grad = PyUnicode_InternFromString("requires_grad"),
                          .is_neg = PyUnicode_InternFromString("is_neg"),
                          .current_level = PyUnicode_InternFromString("_current_level"),
                          .empty_keywords = py::make_tuple("dtype", "device").release().ptr()};
  }();
  return names;
}

bool PlainArguments::read(PyObject* const* arguments, std::size_t positional, PyObject* names) noexcept {
  const TorchNames& torch = TorchNames::get();
  const std::size_t named = names == nullptr ? 0 : static_cast<std::size_t>(PyTuple_GET_SIZE(names));
  if (is_watched(torch) || !add(key_, Kind::position, positional)) return false;
  for (std::size_t i = 0; i < named; ++i) {
    PyObject* name = PyTuple_GET_ITEM(names, i);
    if (!is_interned(name) || !add(key_, Kind::keyword, name)) return false;
  }
  for (std::size_t i = 0; i < positional + named; ++i) {
    if (!read_value(arguments[i], torch)) return false;
  }
  return api_ != nullptr && key_.finish();
}

bool PlainArguments::read_value(PyObject* value, const TorchNames& torch) noexcept {
  PyTypeObject* type = Py_TYPE(value);
  if (type == torch.tensor || type == torch.parameter) return read_tensor(value, torch);
  if (value == Py_None || type == &PyBool_Type || type == torch.dtype || is_interned(value)) {
    return add(key_, Kind::object, value);
  }
  if (type == &PyFloat_Type) return add(key_, Kind::floating, std::bit_cast<std::uint64_t>(PyFloat_AS_DOUBLE(value)));
  if (type != &PyLong_Type) return false;
  int overflow = 0;
  const long long integer = PyLong_AsLongLongAndOverflow(value, &overflow);
  return overflow == 0 && add(key_, Kind::integer, static_cast<std::uint64_t>(integer));
}

bool PlainArguments::read_tensor(PyObject* value, const TorchNames& torch) noexcept {
  const runtime::dlpack::ExchangeApi* api = exchange_api(value);
  const TorchBridge* bridge = loaded_torch_bridge();
  runtime::dlpack::Tensor tensor;
  if (api == nullptr) return false;
  if (bridge == nullptr || !bridge->read(value, &tensor)) {
    if (wants_gradient(value, torch) || is_negated(value, torch) || is_forward_mode_on(torch)) return false;
    if (api->tensor_from_object(value, &tensor) != 0) {
      PyErr_Clear();
      return false;
    }
  }
  api_ = api;
  return key_.add_tensor(tensor);
}

}  // namespace tilegym::bindings
