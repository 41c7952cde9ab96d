#include "bindings/core/plan_cache.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "bindings/core/launching.h"
#include "bindings/core/op_values.h"

namespace tilegym::bindings {
namespace {

namespace py = pybind11;
namespace dlpack = runtime::dlpack;

std::size_t current_generation = 0;  // under the GIL

constexpr std::size_t kMaxTensors = runtime::CallKey::kMaxKeyTensors + runtime::kMaxTensors;

/// References to the outputs of one call, without a heap allocation.
class Outputs {
 public:
  Outputs() noexcept {}
  ~Outputs() {
    for (std::size_t i = 0; i < count_; ++i) Py_DECREF(objects_[i]);
  }
  Outputs(const Outputs&) = delete;
  Outputs& operator=(const Outputs&) = delete;

  /// Takes the reference.
  void push(PyObject* output) noexcept { objects_[count_++] = output; }
  /// A new reference to the one output or to a tuple of them.
  [[nodiscard]] PyObject* result() const {
    if (count_ == 1) return Py_NewRef(objects_[0]);
    PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(count_));
    for (std::size_t i = 0; tuple != nullptr && i < count_; ++i) {
      PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i), Py_NewRef(objects_[i]));
    }
    return tuple;
  }

 private:
  std::size_t count_ = 0;
  std::array<PyObject*, runtime::kMaxTensors> objects_;
};

/// Whether a function without arguments returns a value; false, with no exception set, where it fails.
bool returns(const py::object& function, const py::object& wanted) noexcept {
  PyObject* got = PyObject_CallNoArgs(function.ptr());
  const int equal = got == nullptr ? -1 : PyObject_RichCompareBool(got, wanted.ptr(), Py_EQ);
  Py_XDECREF(got);
  if (equal < 0) PyErr_Clear();
  return equal == 1;
}

}  // namespace

PyObject* OutputSpec::allocate(PyObject* const* arguments) const noexcept {
  const TorchNames& torch = TorchNames::get();
  if (way == Way::empty) {
    PyObject* const values[] = {shape.ptr(), dtype.ptr(), device.ptr()};
    return PyObject_Vectorcall(torch.empty, values, 1, torch.empty_keywords);
  }
  PyObject* const values[] = {arguments[argument], shape.ptr()};
  if (way == Way::empty_like) return PyObject_Vectorcall(torch.empty_like, values, 1, nullptr);
  return PyObject_VectorcallMethod(torch.new_empty, values, 2, nullptr);
}

void OutputSpec::consider(std::size_t index, const py::object& candidate, const py::object& made) {
  const auto same = [&](const char* name) { return candidate.attr(name).equal(made.attr(name)); };
  if (way == Way::empty_like || !same("dtype") || !same("device")) return;
  const bool like = same("shape") && candidate.attr("stride")().equal(made.attr("stride")());
  if (!like && way == Way::new_empty) return;
  way = like ? Way::empty_like : Way::new_empty;
  argument = index;
}

bool Plan::is_current() const noexcept {
  for (const auto& [name, value] : environment) {
    const char* now = std::getenv(name.c_str());
    if (now == nullptr ? value.has_value() : value != now) return false;
  }
  return std::ranges::all_of(settings, [](const auto& setting) { return returns(setting.first, setting.second); });
}

PyObject* Plan::run(const PlainArguments& plain, PyObject* const* arguments) const {
  std::array<std::uint64_t, kMaxTensors> addresses;
  std::size_t count = 0;
  for (const runtime::MemorySpan& span : plain.key().spans()) addresses[count++] = span.address;
  Outputs made;
  for (const OutputSpec& output : outputs) {
    PyObject* object = output.allocate(arguments);
    if (object == nullptr) return nullptr;
    made.push(object);
    dlpack::Tensor tensor;
    if (plain.api()->tensor_from_object(object, &tensor) != 0) return nullptr;
    addresses[count++] = reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset;
  }
  std::uint64_t stream = 0;
  if (!current_stream(*plain.api(), launch.device(), stream)) return nullptr;
  const auto submit = [&] { return launch.launch({addresses.data(), count}, stream); };
  if (!launch_unlocked(*bound, launch.device().kind, submit)) return nullptr;
  return result ? Py_NewRef(arguments[*result]) : made.result();
}

std::shared_ptr<const Plan> PlanCache::find(const runtime::CallKey& key) {
  drop_outdated();
  const auto found = plans_.find(key.words());
  if (found == plans_.end() || !found->second->is_current()) return nullptr;
  return found->second;
}

void PlanCache::add(const runtime::CallKey& key, Plan plan) {
  drop_outdated();
  if (plans_.size() == kLimit) plans_.clear();
  const auto words = key.words();
  plans_.insert_or_assign(runtime::StoredKey(words.begin(), words.end()),
                          std::make_shared<const Plan>(std::move(plan)));
}

void PlanCache::drop_outdated() noexcept {
  if (generation_ == current_generation) return;
  plans_.clear();
  generation_ = current_generation;
}

void forget_plans() noexcept {
  ++current_generation;
}

}  // namespace tilegym::bindings
