#include "bindings/core/errors.h"

#include <fmt/format.h>
#include <pybind11/pybind11.h>

#include <string_view>

namespace tilegym::bindings {
namespace {

namespace py = pybind11;
using runtime::ReturnCode;

py::object error_class(const char* name) {
  return py::module_::import("tilegym_rs.errors").attr(name);
}

[[noreturn]] void throw_error(const char* class_name, const std::string& text) {
  py::set_error(error_class(class_name), text.c_str());
  throw py::error_already_set();
}

std::string_view meaning(std::int32_t code) {
  switch (static_cast<ReturnCode>(code)) {
    case ReturnCode::unsupported_dtype:
      return "dtype not supported";
    case ReturnCode::launch_failed:
      return "launch failed";
    case ReturnCode::device_failed:
      return "device failed";
    case ReturnCode::null_pointer:
      return "null pointer";
    case ReturnCode::invalid_arguments:
      return "invalid arguments";
    case ReturnCode::cancelled:
      return "cancelled, outputs are incomplete";
    case ReturnCode::panicked:
      return "internal error in the kernel library";
    case ReturnCode::ok:
      break;
  }
  return "unknown return code";
}

bool is_argument_error(std::int32_t code) {
  const auto known = static_cast<ReturnCode>(code);
  return known == ReturnCode::unsupported_dtype || known == ReturnCode::null_pointer ||
         known == ReturnCode::invalid_arguments;
}

}  // namespace

void throw_kernel_error(const std::string& text) {
  throw_error("KernelError", text);
}
void throw_build_error(const std::string& text) {
  throw_error("BuildError", text);
}

void set_kernel_error(const char* op, ReturnCode code, const std::string& text) {
  try {
    const py::object type = error_class("KernelError");
    const py::object error = type(text);
    error.attr("op") = op;
    error.attr("code") = static_cast<std::int32_t>(code);
    PyErr_SetObject(type.ptr(), error.ptr());
  } catch (py::error_already_set& failure) {
    failure.restore();
  }
}

void set_call_error(const char* op, std::int32_t code, const std::string& reason) {
  // Python's own handler comes first: it may raise something of its own for the signal that cancelled the launch.
  const bool cancelled = code == static_cast<std::int32_t>(ReturnCode::cancelled);
  if (cancelled && PyErr_CheckSignals() != 0) return;
  const std::string text =
      fmt::format("{}(): {} (code {}){}{}", op, meaning(code), code, reason.empty() ? "" : ": ", reason);
  if (cancelled) return PyErr_SetString(PyExc_KeyboardInterrupt, text.c_str());
  if (is_argument_error(code)) return PyErr_SetString(PyExc_ValueError, text.c_str());
  set_kernel_error(op, static_cast<ReturnCode>(code), text);
}

}  // namespace tilegym::bindings
