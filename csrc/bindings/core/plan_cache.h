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

#include "bindings/core/new_outputs.h"
#include "bindings/core/op_object.h"
#include "bindings/core/plain_arguments.h"
#include "runtime/launch_plan.h"

namespace tilegym::bindings {

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
