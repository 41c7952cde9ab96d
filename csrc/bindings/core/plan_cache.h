#pragma once

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bindings/core/op_object.h"
#include "bindings/core/plain_arguments.h"
#include "runtime/launch_plan.h"

namespace tilegym::bindings {

/// A new dense tensor. Torch makes one soonest from a tensor that is like it, which an argument of the call may be.
struct OutputSpec {
  enum class Way : std::uint8_t { empty, new_empty, empty_like };

  pybind11::object shape;
  pybind11::object dtype;
  pybind11::object device;
  Way way = Way::empty;
  std::size_t argument = 0;  ///< of the call, for the other ways

  /// A new reference, or null with an exception set. `arguments` are those of the call.
  [[nodiscard]] PyObject* allocate(PyObject* const* arguments) const noexcept;
  /// Takes the way that argument `index` opens, where it is better than the one so far. `made` is an output of this
  /// spec. Throws what torch raises.
  void consider(std::size_t index, const pybind11::object& argument, const pybind11::object& made);
};

/// What a planned op does again for calls of one key.
struct Plan {
  pybind11::object op;  ///< keeps `bound`
  const BoundOp* bound;
  runtime::LaunchPlan launch;
  std::vector<OutputSpec> outputs;
  std::optional<std::size_t> result;  ///< the argument that is returned; nothing: the outputs are
  /// Environment variables that the plan depends on, with their values when it was made.
  std::vector<std::pair<std::string, std::optional<std::string>>> environment;
  /// Functions that it depends on, with their results when it was made.
  std::vector<std::pair<pybind11::object, pybind11::object>> settings;
  pybind11::object kept;  ///< objects that the key knows by address

  /// Whether environment and settings are as they were. Leaves no exception set.
  [[nodiscard]] bool is_current() const noexcept;
  /// Launches on the arguments of a call of this plan's key. Null with an exception set.
  [[nodiscard]] PyObject* run(const PlainArguments& plain, PyObject* const* arguments) const;
};

/// The plans of one op. Used under the GIL.
class PlanCache {
 public:
  /// The most plans kept; at one more all are dropped, so that an op with ever new shapes does not grow.
  static constexpr std::size_t kLimit = 4096;

  [[nodiscard]] std::shared_ptr<const Plan> find(const runtime::CallKey& key);
  void add(const runtime::CallKey& key, Plan plan);
  [[nodiscard]] std::size_t size() const noexcept { return plans_.size(); }

 private:
  void drop_outdated() noexcept;

  std::unordered_map<runtime::StoredKey, std::shared_ptr<const Plan>, runtime::KeyHash, runtime::KeyEqual> plans_;
  std::size_t generation_ = 0;
};

/// Makes every cache drop its plans at its next use.
void forget_plans() noexcept;

}  // namespace tilegym::bindings
