#include "bindings/core/tensor_exchange.h"

#include <fmt/format.h>
#include <pybind11/pybind11.h>

#include <array>
#include <cstddef>

#include "bindings/core/python_text.h"

namespace tilegym::bindings {
namespace {

namespace py = pybind11;
namespace dlpack = runtime::dlpack;
using dlpack::ExchangeApi;

/// The API of major version 1 in a producer's chain, or null.
const ExchangeApi* usable_api(const dlpack::ApiHeader* header) noexcept {
  while (header != nullptr && header->major > dlpack::kMajorVersion) header = header->previous;
  if (header == nullptr || header->major != dlpack::kMajorVersion) return nullptr;
  const auto* api = reinterpret_cast<const ExchangeApi*>(header);
  return api->tensor_from_object == nullptr || api->current_work_stream == nullptr ? nullptr : api;
}

const ExchangeApi* look_up(PyTypeObject* type) noexcept {
  PyObject* capsule = PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), dlpack::kTypeAttribute);
  const void* header = capsule == nullptr ? nullptr : PyCapsule_GetPointer(capsule, dlpack::kCapsuleName);
  Py_XDECREF(capsule);
  PyErr_Clear();
  return usable_api(static_cast<const dlpack::ApiHeader*>(header));
}

/// The last types with an API. Each holds a reference to its type, so that no other type can take over the address.
class TypeCache {
 public:
  const ExchangeApi* find(PyTypeObject* type) const noexcept {
    for (const Entry& entry : entries_) {
      if (entry.type == type) return entry.api;
    }
    return nullptr;
  }
  void add(PyTypeObject* type, const ExchangeApi* api) noexcept {
    Entry& entry = entries_[next_];
    next_ = (next_ + 1) % entries_.size();
    Py_INCREF(type);
    PyTypeObject* evicted = entry.type;
    entry = {type, api};
    Py_XDECREF(evicted);
  }

 private:
  struct Entry {
    PyTypeObject* type = nullptr;
    const ExchangeApi* api = nullptr;
  };
  std::array<Entry, 4> entries_;  // torch.Tensor, Parameter and room for two subclasses
  std::size_t next_ = 0;
};

void set_not_a_tensor(PyObject* object, const char* op, const char* argument) {
  const std::string text = fmt::format("{}(): argument '{}': wanted a tensor, got {}", op, argument, type_text(object));
  PyErr_SetString(PyExc_TypeError, text.c_str());
}

/// Turns the producer's exception into a ValueError that says which argument it was; exits pass through.
void set_not_describable(PyObject* object, const char* op, const char* argument) {
  if (PyErr_ExceptionMatches(PyExc_Exception) == 0) return;
  py::error_already_set cause;
  const std::string text = fmt::format("{}(): argument '{}': wanted a tensor with plain strided memory, got {}: {}", op,
                                       argument, type_text(object), std::string(py::str(cause.value())));
  py::raise_from(cause, PyExc_ValueError, text.c_str());
}

}  // namespace

const ExchangeApi* exchange_api(PyObject* object) noexcept {
  static TypeCache cache;
  PyTypeObject* type = Py_TYPE(object);
  if (const ExchangeApi* api = cache.find(type)) return api;
  const ExchangeApi* api = look_up(type);
  if (api != nullptr) cache.add(type, api);
  return api;
}

const ExchangeApi* borrow_tensor(PyObject* object, dlpack::Tensor& out, const char* op, const char* argument) noexcept {
  const ExchangeApi* api = exchange_api(object);
  if (api == nullptr) {
    set_not_a_tensor(object, op, argument);
    return nullptr;
  }
  if (api->tensor_from_object(object, &out) == 0) return api;
  set_not_describable(object, op, argument);
  return nullptr;
}

}  // namespace tilegym::bindings
