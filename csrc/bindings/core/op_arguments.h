#pragma once

#include <Python.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "runtime/manifest.h"

namespace tilegym::bindings {

/// The parameters of an op that callers pass, with their names as interned Python strings.
class OpSignature {
 public:
  /// `op` must outlive the signature. Needs the GIL, and so does the destructor.
  explicit OpSignature(const runtime::OpRow& op);
  ~OpSignature();
  OpSignature(const OpSignature&) = delete;
  OpSignature& operator=(const OpSignature&) = delete;

  struct Param {
    std::size_t index;  ///< in the manifest
    PyObject* name;
  };
  using Values = std::array<PyObject*, runtime::kMaxParams>;  ///< borrowed; null where not passed

  [[nodiscard]] const runtime::OpRow& op() const noexcept { return op_; }
  [[nodiscard]] std::span<const Param> params() const noexcept { return params_; }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

  /// Sorts the arguments of a vectorcall by parameter. False with TypeError set for too many arguments, an unknown name
  /// or a parameter given twice.
  [[nodiscard]] bool sort(PyObject* const* arguments, std::size_t positional, PyObject* names, Values& values) const;

 private:
  [[nodiscard]] const Param* find(PyObject* name) const;
  [[nodiscard]] bool sort_named(PyObject* const* arguments, PyObject* names, Values& values) const;
  void set_type_error(const std::string& what) const;

  const runtime::OpRow& op_;
  std::vector<Param> params_;
  std::string text_;
};

}  // namespace tilegym::bindings
