#pragma once

#include <Python.h>

#include <cstddef>

#include "runtime/dlpack.h"

namespace tilegym::bindings {

/// Shape, dtype and device of tensors to be made.
struct TensorModel;
/// A tensor that Python does not know yet.
struct MadeTensor;

/// What planned calls ask of libtorch, which costs a fraction of the same through Python. A module built for the
/// running torch offers it as its attribute `bridge`, a capsule of the name below; without one those calls go through
/// Python.
struct TorchBridge {
  static constexpr const char* kCapsule = "tilegym_rs.torch_bridge";

  std::size_t size = sizeof(TorchBridge);

  /// Whether a mode of torch looks at every operator of this thread, so that a launch beside them would be missed.
  bool (*is_watched)() noexcept;
  /// Describes an object of the exact type torch.Tensor or Parameter as DLPack would. False, with no exception set, for
  /// one that wants a gradient while gradients are on, and where dtype, device and strided memory do not tell all of
  /// it: negated, conjugated, sparse, quantized, traced, with a tangent. Needs the GIL.
  bool (*read)(PyObject* tensor, runtime::dlpack::Tensor* out) noexcept;

  /// The model of a dense tensor; null where it is none. Needs the GIL.
  TensorModel* (*model_of)(PyObject* tensor) noexcept;
  void (*drop_model)(TensorModel* model) noexcept;

  /// A new tensor, and in `data` where its memory is; null where there is no memory for it. Needs no GIL.
  MadeTensor* (*make)(const TensorModel* model, void** data) noexcept;
  /// The Python object of a tensor, which is used up; null raises the error of this thread's last `make` that failed.
  /// Needs the GIL.
  PyObject* (*wrap)(MadeTensor* tensor) noexcept;
  void (*drop)(MadeTensor* tensor) noexcept;
};

}  // namespace tilegym::bindings
