#pragma once

#include <Python.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "bindings/core/errors.h"
#include "bindings/core/main_thread.h"
#include "bindings/core/op_object.h"
#include "runtime/interrupt.h"
#include "runtime/op_call.h"

/// The steps of a launch that calls of ops and of planned ops share. All need the GIL.
namespace tilegym::bindings {

/// Hands the arguments of a vectorcall to `call` and completes it with the current stream of the tensors' device, whose
/// driver is bound where it is not yet. False with an exception set.
[[nodiscard]] bool prepare_call(const BoundOp& bound, PyObject* const* arguments, std::size_t positional,
                                PyObject* names, runtime::OpCall& call);

/// Runs `launch`, which returns an op's code, with the GIL released. On the main thread Ctrl-C ends it where it runs on
/// the CPU device. False with an exception set.
template <class LaunchFn>
[[nodiscard]] bool launch_unlocked(const BoundOp& bound, runtime::DriverKind kind, LaunchFn launch) {
  std::int32_t code = 0;
  {
    std::optional<runtime::InterruptGuard> guard;
    if (kind == runtime::DriverKind::cpu && is_main_thread()) {
      guard.emplace(bound.library->cpu_device().watch_function());
    }
    PyThreadState* const state = PyEval_SaveThread();
    code = launch();
    PyEval_RestoreThread(state);
  }
  if (code != 0) set_call_error(bound.signature.op().name, code, bound.library->last_error());
  return code == 0;
}

}  // namespace tilegym::bindings
