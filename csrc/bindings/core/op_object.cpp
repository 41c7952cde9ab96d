#include "bindings/core/op_object.h"

#include <structmember.h>

#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

#include "bindings/core/errors.h"
#include "bindings/core/launching.h"
#include "bindings/core/op_values.h"

namespace tilegym::bindings {
namespace {

namespace py = pybind11;
using runtime::DriverKind;
using runtime::OpCall;

struct OpObject {
  PyObject ob_base;
  vectorcallfunc vectorcall;
  BoundOp* bound;  // owned
};

/// Every callable there is; touched under the GIL. Lives as long as the process: callables may outlive static objects.
std::unordered_set<OpObject*>& living_ops() {
  static auto* const ops = new std::unordered_set<OpObject*>;
  return *ops;
}

const BoundOp& bound_op(PyObject* self) {
  return *reinterpret_cast<OpObject*>(self)->bound;
}

bool pass_values(const OpSignature& signature, const OpSignature::Values& values, ValuePasser& passer) {
  for (std::size_t position = 0; position < signature.params().size(); ++position) {
    if (!passer.pass(signature.params()[position].index, values[position])) return false;
  }
  return true;
}

bool bind_driver(const BoundOp& bound, DriverKind kind) {
  const Status status = bound.library->ensure_driver(kind);
  if (status.ok()) return true;
  set_kernel_error(bound.signature.op().name, runtime::ReturnCode::device_failed, status.error().message);
  return false;
}

bool call_bound(const BoundOp& bound, PyObject* const* arguments, std::size_t positional, PyObject* names) {
  OpCall call(bound.signature.op());
  if (!prepare_call(bound, arguments, positional, names, call)) return false;
  return launch_unlocked(bound, call.device().kind, [&call] { return call.invoke(); });
}

PyObject* call_op(PyObject* self, PyObject* const* arguments, std::size_t flags, PyObject* names) noexcept {
  try {
    if (!call_bound(bound_op(self), arguments, PyVectorcall_NARGS(flags), names)) return nullptr;
    Py_RETURN_NONE;
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
    return nullptr;
  }
}

/// What a callable does whose op the newest library lacks.
PyObject* call_absent(PyObject* self, PyObject* const*, std::size_t, PyObject*) noexcept {
  const BoundOp& bound = bound_op(self);
  const char* const op = bound.signature.op().name;
  try {
    const auto found = runtime::KernelLibrary::newest(bound.library)->find(op);
    set_kernel_error(op, runtime::ReturnCode::invalid_arguments, found.ok() ? "" : found.error().message);
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

void rebind(OpObject& object) {
  std::shared_ptr<runtime::KernelLibrary> newest = runtime::KernelLibrary::newest(object.bound->library);
  if (newest == object.bound->library) return;
  const auto op = newest->find(object.bound->signature.op().name);
  if (!op) {
    object.vectorcall = call_absent;
    return;
  }
  // A call that runs at the moment has let go of the GIL and still reads the old one: it is left to the process.
  object.bound = new BoundOp{std::move(newest), OpSignature(*op.value())};
  object.vectorcall = call_op;
}

void deallocate(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  living_ops().erase(reinterpret_cast<OpObject*>(self));
  delete reinterpret_cast<OpObject*>(self)->bound;
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* text_object(const std::string& text) {
  return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}

PyObject* represent(PyObject* self) {
  return text_object("<op " + bound_op(self).signature.text() + ">");
}

PyObject* get_name(PyObject* self, void*) {
  return PyUnicode_FromString(bound_op(self).signature.op().name);
}

PyObject* get_doc(PyObject* self, void*) {
  const char* doc = bound_op(self).signature.op().doc;
  return PyUnicode_FromString(doc == nullptr ? "" : doc);
}

py::object inspect_default(const runtime::ParamRow& row) {
  if (row.kind == runtime::ParamKind::f32) return py::float_(row.default_value.floating);
  return py::int_(row.default_value.integer);
}

/// inspect.Signature of the arguments that callers pass, for help() and editors. Python has no positional parameter
/// without a default after one with a default; such a one and those behind it are shown as keywords, which they can be.
py::object inspect_signature(const OpSignature& signature) {
  const py::module_ inspect = py::module_::import("inspect");
  const py::object parameter = inspect.attr("Parameter");
  py::list parameters;
  py::object kind = parameter.attr("POSITIONAL_OR_KEYWORD");
  bool after_default = false;
  for (const auto& [index, name] : signature.params()) {
    const runtime::ParamRow& row = signature.op().params[index];
    const bool has_default = row.has_default != 0;
    if (after_default && !has_default) kind = parameter.attr("KEYWORD_ONLY");
    after_default = after_default || has_default;
    const py::object value = has_default ? inspect_default(row) : parameter.attr("empty");
    parameters.append(parameter(row.name, kind, py::arg("default") = value));
  }
  return inspect.attr("Signature")(parameters);
}

PyObject* get_signature(PyObject* self, void*) {
  try {
    return inspect_signature(bound_op(self).signature).release().ptr();
  } catch (py::error_already_set& error) {
    error.restore();
    return nullptr;
  }
}

PyGetSetDef properties[] = {{"__name__", get_name, nullptr, nullptr, nullptr},
                            {"__doc__", get_doc, nullptr, nullptr, nullptr},
                            {"__signature__", get_signature, nullptr, nullptr, nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(OpObject, vectorcall), READONLY, nullptr},
                         {nullptr, 0, 0, 0, nullptr}};

PyTypeObject* make_op_type() {
  PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
                         {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                         {Py_tp_repr, reinterpret_cast<void*>(represent)},
                         {Py_tp_getset, properties},
                         {Py_tp_members, members},
                         {0, nullptr}};
  PyType_Spec spec{"tilegym_rs._core.Op", sizeof(OpObject), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr) throw py::error_already_set();
  return reinterpret_cast<PyTypeObject*>(type);
}

}  // namespace

bool prepare_call(const BoundOp& bound, PyObject* const* arguments, std::size_t positional, PyObject* names,
                  OpCall& call) {
  OpSignature::Values values;
  ValuePasser passer(bound.signature.op(), call);
  std::uint64_t stream = 0;
  if (!bound.signature.sort(arguments, positional, names, values)) return false;
  if (!pass_values(bound.signature, values, passer) || !bind_driver(bound, call.device().kind)) return false;
  if (passer.api() != nullptr && !current_stream(*passer.api(), call.device(), stream)) return false;
  call.complete(stream);
  return true;
}

py::object op_type() {
  static PyTypeObject* const type = make_op_type();  // lives as long as the process
  return py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(type));
}

py::object make_op_object(std::shared_ptr<runtime::KernelLibrary> library, const runtime::OpRow& op) {
  auto* type = reinterpret_cast<PyTypeObject*>(op_type().ptr());
  std::unique_ptr<BoundOp> bound(new BoundOp{std::move(library), OpSignature(op)});
  PyObject* self = type->tp_alloc(type, 0);
  if (self == nullptr) throw py::error_already_set();
  auto* object = reinterpret_cast<OpObject*>(self);
  object->vectorcall = call_op;
  object->bound = bound.release();
  living_ops().insert(object);
  return py::reinterpret_steal<py::object>(self);
}

const BoundOp* bound_op_of(PyObject* object) noexcept {
  const bool is_op = reinterpret_cast<PyObject*>(Py_TYPE(object)) == op_type().ptr();
  return is_op ? &bound_op(object) : nullptr;
}

void rebind_ops() {
  for (OpObject* op : living_ops()) rebind(*op);
}

}  // namespace tilegym::bindings
