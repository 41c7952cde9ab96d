#pragma once

#include <Python.h>

#include "runtime/dlpack.h"

/// From Python tensor objects to DLPack tensors, through the C exchange API of their type. Needs the GIL.
namespace tilegym::bindings {

/// The exchange API of the object's type, or null with no exception set where the type has none that can be used. Types
/// seen last are remembered.
[[nodiscard]] const runtime::dlpack::ExchangeApi* exchange_api(PyObject* object) noexcept;

/// Describes a tensor object; `name` is the start of the error text, such as "softmax(): argument 'x'". Shape and
/// strides point into the object. Returns the API it used, or null with TypeError set for an object that is no tensor,
/// ValueError for a tensor that DLPack cannot describe.
[[nodiscard]] const runtime::dlpack::ExchangeApi* borrow_tensor(PyObject* object, runtime::dlpack::Tensor& out,
                                                                const char* op, const char* argument) noexcept;

}  // namespace tilegym::bindings
