#pragma once

#include <Python.h>

#include <string>

namespace tilegym::bindings {

/// The type of an object as a user writes it: "float", "torch.nn.parameter.Parameter". Needs the GIL; leaves no
/// exception set.
[[nodiscard]] std::string type_text(PyObject* object);

}  // namespace tilegym::bindings
