#pragma once

#include <pybind11/pybind11.h>

namespace tilegym::bindings {

/// The Python type of wrappers that plan their launch: `PlannedOp(planner, launch_type, library, execute)`.
///
/// A call asks `planner`, which returns a `launch_type` that says what to launch, or anything else, which the caller
/// gets. The launch is made and remembered: a later call whose arguments have an equal runtime::CallKey is launched
/// without Python, its outputs allocated anew. Not remembered is what a key cannot tell: arguments other than plain
/// tensors and numbers, tensors that want a gradient or are negated views, and launches on memory of neither the
/// caller's tensors nor the outputs. `library()` is asked for the kernel library; where it is not a KernelLibrary,
/// `execute(launch, library)` makes the launch. Needs the GIL.
[[nodiscard]] pybind11::object planned_op_type();

}  // namespace tilegym::bindings
