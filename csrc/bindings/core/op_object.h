#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "bindings/core/op_arguments.h"
#include "runtime/kernel_library.h"

namespace tilegym::bindings {

/// An op of a library that Python can call.
struct BoundOp {
  std::shared_ptr<runtime::KernelLibrary> library;
  OpSignature signature;
};

/// The Python type of the callables.
[[nodiscard]] pybind11::object op_type();

/// The Python callable of an op: `op(out, x, block_size=1024)`, by position or by the names of the manifest. Device and
/// stream are taken from the tensors. It keeps the library; the GIL is released while the op runs, and the caller's
/// references keep the tensors alive. Returns None.
/// Raises TypeError for wrong names, counts and Python types, ValueError for tensors and numbers that the op does not
/// take, KernelError when the launch fails, KeyboardInterrupt when it is cancelled.
[[nodiscard]] pybind11::object make_op_object(std::shared_ptr<runtime::KernelLibrary> library,
                                              const runtime::OpRow& op);

/// What a callable of make_op_object stands for; null for any other object.
[[nodiscard]] const BoundOp* bound_op_of(PyObject* object) noexcept;

/// Makes the callables of libraries that have a successor go to that. One whose op is gone raises KernelError from then
/// on. Calls that are running end where they began. Needs the GIL.
void rebind_ops();

}  // namespace tilegym::bindings
