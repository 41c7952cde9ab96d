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

/// Whether a function without arguments returns a value; false, with no exception set, where it fails.
bool returns(const py::object& function, const py::object& wanted) noexcept {
  PyObject* got = PyObject_CallNoArgs(function.ptr());
  const int equal = got == nullptr ? -1 : PyObject_RichCompareBool(got, wanted.ptr(), Py_EQ);
  Py_XDECREF(got);
  if (equal < 0) PyErr_Clear();
  return equal == 1;
}

}  // namespace

bool Plan::is_current() const noexcept {
  for (const auto& [name, value] : environment) {
    const char* now = std::getenv(name.c_str());
    if (now == nullptr ? value.has_value() : value != now) return false;
  }
  return std::ranges::all_of(settings, [](const auto& setting) { return returns(setting.first, setting.second); });
}

PyObject* Plan::run(const PlainArguments& plain, PyObject* const* arguments) const {
  Addresses addresses(plain.key().spans());
  std::uint64_t stream = 0;
  NewOutputs made(outputs);
  if (!made.prepare(*plain.api()) || !current_stream(*plain.api(), launch.device(), stream)) return nullptr;
  bool has_memory = true;
  const auto submit = [&]() -> std::int32_t {
    has_memory = made.make(addresses);
    return has_memory ? launch.launch(addresses.all(), stream) : 0;
  };
  if (!launch_unlocked(*bound, launch.device().kind, submit)) return nullptr;
  if (!has_memory) return made.raise();
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
