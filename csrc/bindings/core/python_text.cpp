#include "bindings/core/python_text.h"

#include <pybind11/pybind11.h>

namespace tilegym::bindings {

namespace py = pybind11;

std::string type_text(PyObject* object) {
  try {
    const py::handle type = py::type::handle_of(object);
    const auto module = type.attr("__module__").cast<std::string>();
    const auto name = type.attr("__qualname__").cast<std::string>();
    return module == "builtins" ? name : module + "." + name;
  } catch (const std::exception&) {
    return Py_TYPE(object)->tp_name;
  }
}

}  // namespace tilegym::bindings
