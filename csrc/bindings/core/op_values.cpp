#include "bindings/core/op_values.h"

#include <fmt/format.h>

#include "bindings/core/python_text.h"
#include "bindings/core/tensor_exchange.h"

namespace tilegym::bindings {
namespace {

namespace dlpack = runtime::dlpack;
using runtime::ParamKind;

bool accept(const Status& status) {
  if (status.ok()) return true;
  PyErr_SetString(PyExc_ValueError, status.error().message.c_str());
  return false;
}

/// Whether the object can stand for an integer. Tensors can too, but then a swapped argument would be read as a number.
bool is_integer(PyObject* value) {
  return PyLong_Check(value) || (PyIndex_Check(value) && exchange_api(value) == nullptr);
}

bool is_number(PyObject* value) {
  return PyFloat_Check(value) || is_integer(value);
}

}  // namespace

bool ValuePasser::pass(std::size_t param, PyObject* value) {
  const ParamKind kind = op_.params[param].kind;
  if (value == nullptr) return pass_default(param);
  if (kind == ParamKind::tensor) return pass_tensor(param, value);
  return kind == ParamKind::f32 ? pass_floating(param, value) : pass_integer(param, value);
}

bool ValuePasser::pass_tensor(std::size_t param, PyObject* value) {
  dlpack::Tensor tensor;
  api_ = borrow_tensor(value, tensor, op_.name, op_.params[param].name);
  return api_ != nullptr && accept(call_.set_tensor(param, tensor));
}

bool ValuePasser::pass_integer(std::size_t param, PyObject* value) {
  if (!is_integer(value)) return wrong_type(param, value, "an integer");
  int overflow = 0;
  const long long integer = PyLong_AsLongLongAndOverflow(value, &overflow);
  if (integer == -1 && PyErr_Occurred() != nullptr) return false;
  if (overflow == 0) return accept(call_.set_integer(param, integer));
  return accept(Error{fmt::format("{}(): argument '{}': wanted a 64-bit integer, got one that is {}", op_.name,
                                  op_.params[param].name, overflow > 0 ? "greater" : "less")});
}

bool ValuePasser::pass_floating(std::size_t param, PyObject* value) {
  if (!is_number(value)) return wrong_type(param, value, "a number");
  const double number = PyFloat_AsDouble(value);
  if (number == -1.0 && PyErr_Occurred() != nullptr) return false;
  return accept(call_.set_floating(param, number));
}

bool ValuePasser::pass_default(std::size_t param) {
  const Status status = call_.set_default(param);
  if (!status) PyErr_SetString(PyExc_TypeError, status.error().message.c_str());
  return status.ok();
}

bool ValuePasser::wrong_type(std::size_t param, PyObject* value, const char* wanted) const {
  const std::string text =
      fmt::format("{}(): argument '{}': wanted {}, got {}", op_.name, op_.params[param].name, wanted, type_text(value));
  PyErr_SetString(PyExc_TypeError, text.c_str());
  return false;
}

bool current_stream(const dlpack::ExchangeApi& api, runtime::Device device, std::uint64_t& stream) {
  stream = 0;
  if (device.kind == runtime::DriverKind::cpu) return true;
  void* handle = nullptr;
  if (api.current_work_stream(dlpack::DeviceType::cuda, device.ordinal, &handle) != 0) return false;
  stream = reinterpret_cast<std::uintptr_t>(handle);
  return true;
}

}  // namespace tilegym::bindings
