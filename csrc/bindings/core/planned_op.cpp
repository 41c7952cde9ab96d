#include "bindings/core/planned_op.h"

#include <pybind11/stl.h>
#include <structmember.h>

#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/core/launching.h"
#include "bindings/core/op_values.h"
#include "bindings/core/plan_cache.h"

namespace tilegym::bindings {
namespace {

namespace py = pybind11;

struct PlannedOp {
  PyObject ob_base;
  vectorcallfunc vectorcall;
  struct Parts* parts;  // owned
};

struct Parts {
  py::object planner;
  py::object launch_type;
  py::object library;
  py::object execute;
  PlanCache plans;
  std::uint64_t replays = 0;
};

Parts& parts_of(PyObject* self) {
  return *reinterpret_cast<PlannedOp*>(self)->parts;
}

/// The arguments of a vectorcall.
struct Arguments {
  PyObject* const* values;
  std::size_t positional;
  PyObject* names;

  [[nodiscard]] std::size_t count() const {
    return positional + (names == nullptr ? 0 : static_cast<std::size_t>(PyTuple_GET_SIZE(names)));
  }
  [[nodiscard]] std::optional<std::size_t> find(PyObject* value) const {
    for (std::size_t i = 0; i < count(); ++i) {
      if (values[i] == value) return i;
    }
    return std::nullopt;
  }
};

/// A launch as the planner describes it, with its outputs allocated and its arguments in the order of a vectorcall.
struct Described {
  std::vector<OutputSpec> specs;
  std::vector<py::object> outputs;
  std::vector<py::object> values;
  py::tuple names;
};

bool is_output(const py::handle& tensor) {
  return py::hasattr(tensor, "seen_as");
}

/// Checks the tensors that there are, before memory is allocated for those that there are not.
void check_inputs(const BoundOp& bound, const py::object& launch) {
  runtime::OpCall call(bound.signature.op());
  ValuePasser passer(bound.signature.op(), call);
  std::size_t position = 0;
  for (const py::handle tensor : launch.attr("tensors")) {
    if (position == bound.signature.params().size()) return;
    const std::size_t param = bound.signature.params()[position++].index;
    if (!is_output(tensor) && !passer.pass(param, tensor.ptr())) throw py::error_already_set();
  }
}

Described describe(const py::object& launch) {
  Described described;
  for (const py::handle item : launch.attr("tensors")) {
    py::object tensor = py::reinterpret_borrow<py::object>(item);
    if (is_output(tensor)) {
      OutputSpec spec{tensor.attr("shape"), tensor.attr("dtype"), tensor.attr("device")};
      PyObject* made = spec.allocate();
      if (made == nullptr) throw py::error_already_set();
      described.outputs.push_back(py::reinterpret_steal<py::object>(made));
      described.specs.push_back(std::move(spec));
      const py::object shape = tensor.attr("seen_as");
      tensor = shape.is_none() ? described.outputs.back() : described.outputs.back().attr("view")(shape);
    }
    described.values.push_back(std::move(tensor));
  }
  const py::dict scalars = launch.attr("scalars");
  for (const auto& [name, value] : scalars) described.values.push_back(py::reinterpret_borrow<py::object>(value));
  described.names = py::tuple(scalars.attr("keys")());
  return described;
}

std::vector<std::pair<std::string, std::optional<std::string>>> environment_of(const py::object& launch) {
  std::vector<std::pair<std::string, std::optional<std::string>>> environment;
  for (const auto& name : launch.attr("environment").cast<std::vector<std::string>>()) {
    const char* value = std::getenv(name.c_str());
    environment.emplace_back(name, value == nullptr ? std::nullopt : std::optional<std::string>(value));
  }
  return environment;
}

std::vector<std::pair<py::object, py::object>> settings_of(const py::object& launch) {
  std::vector<std::pair<py::object, py::object>> settings;
  for (const py::handle function : launch.attr("settings")) {
    settings.emplace_back(py::reinterpret_borrow<py::object>(function), function());
  }
  return settings;
}

/// Memory of the caller's tensors, then of the outputs, as Plan::run lists it.
std::vector<runtime::MemorySpan> memory_of_call(const PlainArguments& plain, const std::vector<py::object>& outputs) {
  const auto inputs = plain.key().spans();
  std::vector<runtime::MemorySpan> memory(inputs.begin(), inputs.end());
  for (const py::object& output : outputs) {
    runtime::dlpack::Tensor tensor;
    if (plain.api()->tensor_from_object(output.ptr(), &tensor) != 0) throw py::error_already_set();
    memory.push_back(runtime::memory_of(tensor).value_or(runtime::MemorySpan{}));
  }
  return memory;
}

py::object result_of(const py::object& launch, const Described& described) {
  py::object result = launch.attr("result");
  if (!result.is_none()) return result;
  if (described.outputs.size() == 1) return described.outputs.front();
  return py::tuple(py::cast(described.outputs));
}

/// Keeps the plan of a launch that was made, where calls of the same key can be launched alike.
void remember(Parts& parts, const PlainArguments& plain, const Arguments& arguments, const py::object& op,
              const runtime::OpCall& call, const py::object& launch, Described described) {
  auto again = runtime::LaunchPlan::of(call, memory_of_call(plain, described.outputs));
  const py::object result = launch.attr("result");
  const auto returned = result.is_none() ? std::nullopt : arguments.find(result.ptr());
  if (!again || (!result.is_none() && !returned)) return;
  const TorchNames& torch = TorchNames::get();
  py::list kept;
  if (arguments.names != nullptr) kept.append(py::handle(arguments.names));
  for (std::size_t i = 0; i < arguments.count(); ++i) {
    const auto value = py::reinterpret_borrow<py::object>(arguments.values[i]);
    // A tensor must not live on in a plan; of all else the key may hold the address.
    if (PyUnicode_Check(value.ptr()) || Py_TYPE(value.ptr()) == torch.dtype) kept.append(value);
  }
  parts.plans.add(plain.key(), Plan{op, bound_op_of(op.ptr()), std::move(*again), std::move(described.specs), returned,
                                    environment_of(launch), settings_of(launch), std::move(kept)});
}

/// Makes the launch that a planner described. Throws, or returns null with an exception set.
py::object make_launch(Parts& parts, const PlainArguments* plain, const Arguments& arguments,
                       const py::object& launch) {
  const py::object library = parts.library();
  if (!py::isinstance<runtime::KernelLibrary>(library)) return parts.execute(launch, library);
  const py::object op = library.attr(py::str(launch.attr("op")));
  const BoundOp* bound = bound_op_of(op.ptr());
  if (bound == nullptr) return parts.execute(launch, library);
  check_inputs(*bound, launch);
  Described described = describe(launch);
  std::vector<PyObject*> values;
  for (const py::object& value : described.values) values.push_back(value.ptr());
  const std::size_t positional = values.size() - described.names.size();
  runtime::OpCall call(bound->signature.op());
  if (!prepare_call(*bound, values.data(), positional, described.names.ptr(), call)) throw py::error_already_set();
  if (!launch_unlocked(*bound, call.device().kind, [&call] { return call.invoke(); })) throw py::error_already_set();
  py::object result = result_of(launch, described);
  if (plain != nullptr) remember(parts, *plain, arguments, op, call, launch, std::move(described));
  return result;
}

PyObject* plan_and_launch(Parts& parts, const PlainArguments* plain, const Arguments& arguments) {
  PyObject* planned = PyObject_Vectorcall(parts.planner.ptr(), arguments.values, arguments.positional, arguments.names);
  if (planned == nullptr) return nullptr;
  const auto launch = py::reinterpret_steal<py::object>(planned);
  if (!py::isinstance(launch, parts.launch_type)) return launch.inc_ref().ptr();
  return make_launch(parts, plain, arguments, launch).release().ptr();
}

PyObject* call_planned(Parts& parts, const Arguments& arguments) {
  PlainArguments plain;
  if (!plain.read(arguments.values, arguments.positional, arguments.names)) {
    return plan_and_launch(parts, nullptr, arguments);
  }
  const auto plan = parts.plans.find(plain.key());
  if (plan == nullptr) return plan_and_launch(parts, &plain, arguments);
  ++parts.replays;
  return plan->run(plain, arguments.values);
}

PyObject* call(PyObject* self, PyObject* const* arguments, std::size_t flags, PyObject* names) noexcept {
  try {
    return call_planned(parts_of(self), {arguments, static_cast<std::size_t>(PyVectorcall_NARGS(flags)), names});
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

PyObject* construct(PyTypeObject* type, PyObject* arguments, PyObject* keywords) noexcept {
  static const char* const kNames[] = {"planner", "launch_type", "library", "execute", nullptr};
  PyObject* planner = nullptr;
  PyObject* launch_type = nullptr;
  PyObject* library = nullptr;
  PyObject* execute = nullptr;
  if (PyArg_ParseTupleAndKeywords(arguments, keywords, "OOOO:PlannedOp", const_cast<char**>(kNames), &planner,
                                  &launch_type, &library, &execute) == 0) {
    return nullptr;
  }
  try {
    static_cast<void>(TorchNames::get());  // here it may throw
    const auto borrow = [](PyObject* object) { return py::reinterpret_borrow<py::object>(object); };
    auto parts = std::make_unique<Parts>(
        Parts{borrow(planner), borrow(launch_type), borrow(library), borrow(execute), PlanCache(), 0});
    PyObject* self = type->tp_alloc(type, 0);
    if (self == nullptr) return nullptr;
    reinterpret_cast<PlannedOp*>(self)->vectorcall = call;
    reinterpret_cast<PlannedOp*>(self)->parts = parts.release();
    return self;
  } catch (py::error_already_set& error) {
    error.restore();
    return nullptr;
  }
}

void deallocate(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  delete reinterpret_cast<PlannedOp*>(self)->parts;
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* get_planner(PyObject* self, void*) {
  return py::object(parts_of(self).planner).release().ptr();
}
PyObject* get_plans(PyObject* self, void*) {
  return PyLong_FromSize_t(parts_of(self).plans.size());
}
PyObject* get_replays(PyObject* self, void*) {
  return PyLong_FromUnsignedLongLong(parts_of(self).replays);
}

PyGetSetDef properties[] = {{"__wrapped__", get_planner, nullptr, "The planner.", nullptr},
                            {"plans", get_plans, nullptr, "Number of plans remembered.", nullptr},
                            {"replays", get_replays, nullptr, "Calls that took a remembered plan.", nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(PlannedOp, vectorcall), READONLY, nullptr},
                         {nullptr, 0, 0, 0, nullptr}};

PyTypeObject* make_type() {
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(construct)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(deallocate)},
                         {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                         {Py_tp_getset, properties},
                         {Py_tp_members, members},
                         {0, nullptr}};
  PyType_Spec spec{"tilegym_rs._core.PlannedOp", sizeof(PlannedOp), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
                   slots};
  PyObject* type = PyType_FromSpec(&spec);
  if (type == nullptr) throw py::error_already_set();
  return reinterpret_cast<PyTypeObject*>(type);
}

}  // namespace

py::object planned_op_type() {
  static PyTypeObject* const type = make_type();  // lives as long as the process
  return py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(type));
}

}  // namespace tilegym::bindings
