#include "bindings/core/op_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace tilegym::bindings {
namespace {

std::string utf8(PyObject* text) {
  const char* bytes = PyUnicode_AsUTF8(text);
  if (bytes != nullptr) return bytes;
  PyErr_Clear();
  return "?";
}

}  // namespace

OpSignature::OpSignature(const runtime::OpRow& op) : op_(op), text_(runtime::signature_text(op)) {
  for (std::size_t index = 0; index < op.param_count; ++index) {
    if (!runtime::is_passed(op.params[index])) continue;
    PyObject* name = PyUnicode_InternFromString(op.params[index].name);
    if (name == nullptr) throw std::runtime_error(fmt::format("{}: a parameter's name is not UTF-8", op.name));
    params_.push_back({index, name});
  }
}

OpSignature::~OpSignature() {
  for (const Param& param : params_) Py_DECREF(param.name);
}

void OpSignature::set_type_error(const std::string& what) const {
  PyErr_SetString(PyExc_TypeError, fmt::format("{}(): {}; call {}", op_.name, what, text_).c_str());
}

const OpSignature::Param* OpSignature::find(PyObject* name) const {
  // Names in calls are interned, as ours are: identity decides nearly always.
  const auto same = std::ranges::find(params_, name, &Param::name);
  if (same != params_.end()) return &*same;
  const auto equal =
      std::ranges::find_if(params_, [name](const Param& param) { return PyUnicode_Compare(param.name, name) == 0; });
  return equal == params_.end() ? nullptr : &*equal;
}

bool OpSignature::sort(PyObject* const* arguments, std::size_t positional, PyObject* names, Values& values) const {
  if (positional > params_.size()) {
    set_type_error(fmt::format("wanted at most {} arguments, got {}", params_.size(), positional));
    return false;
  }
  std::copy_n(arguments, positional, values.begin());
  std::fill(values.begin() + positional, values.begin() + params_.size(), nullptr);
  return names == nullptr || sort_named(arguments + positional, names, values);
}

bool OpSignature::sort_named(PyObject* const* arguments, PyObject* names, Values& values) const {
  for (Py_ssize_t position = 0; position < PyTuple_GET_SIZE(names); ++position) {
    PyObject* name = PyTuple_GET_ITEM(names, position);
    const Param* param = find(name);
    if (param == nullptr) {
      set_type_error(fmt::format("there is no argument '{}'", utf8(name)));
      return false;
    }
    PyObject*& value = values[static_cast<std::size_t>(param - params_.data())];
    if (value != nullptr) {
      set_type_error(fmt::format("got argument '{}' twice", utf8(name)));
      return false;
    }
    value = arguments[position];
  }
  return true;
}

}  // namespace tilegym::bindings
