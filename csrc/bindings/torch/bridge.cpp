#include "bindings/torch/bridge.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/DispatchKeySet.h>
#include <c10/core/GradMode.h>
#include <c10/core/impl/TorchDispatchModeTLS.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/python_variable.h>

#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace tilegym::bindings {

struct TensorModel {
  std::vector<std::int64_t> shape;
  at::TensorOptions options;
};

namespace {

namespace dlpack = runtime::dlpack;

thread_local std::exception_ptr failure;

/// All dispatch keys that a tensor of strided memory on a device may have. Each property beyond has a key of its own.
template <c10::DispatchKey kDense, c10::BackendComponent kBackend>
bool is_plain(c10::DispatchKeySet keys) noexcept {
  static const c10::DispatchKeySet plain = c10::DispatchKeySet(kDense) |
                                           c10::getAutocastRelatedKeySetFromBackend(kBackend) |
                                           c10::getAutogradRelatedKeySetFromBackend(kBackend);
  return (keys.raw_repr() & ~plain.raw_repr()) == 0;
}

std::optional<dlpack::Device> device_of(const c10::TensorImpl& tensor) noexcept {
  const c10::DispatchKeySet keys = tensor.key_set();
  if (is_plain<c10::DispatchKey::CPU, c10::BackendComponent::CPUBit>(keys)) {
    return dlpack::Device{dlpack::DeviceType::cpu, 0};
  }
  if (is_plain<c10::DispatchKey::CUDA, c10::BackendComponent::CUDABit>(keys)) {
    return dlpack::Device{dlpack::DeviceType::cuda, tensor.device().index()};
  }
  return std::nullopt;
}

/// For the dtypes that kernels take.
std::optional<dlpack::DataType> dtype_of(const c10::TensorImpl& tensor) noexcept {
  using dlpack::TypeCode;
  switch (c10::typeMetaToScalarType(tensor.dtype())) {
    case c10::ScalarType::Float:
      return dlpack::DataType{TypeCode::floating, 32, 1};
    case c10::ScalarType::Half:
      return dlpack::DataType{TypeCode::floating, 16, 1};
    case c10::ScalarType::BFloat16:
      return dlpack::DataType{TypeCode::bfloat, 16, 1};
    case c10::ScalarType::Int:
      return dlpack::DataType{TypeCode::integer, 32, 1};
    case c10::ScalarType::Long:
      return dlpack::DataType{TypeCode::integer, 64, 1};
    case c10::ScalarType::Float8_e5m2:
      return dlpack::DataType{TypeCode::float8_e5m2, 8, 1};
    case c10::ScalarType::Float8_e4m3fn:
      return dlpack::DataType{TypeCode::float8_e4m3fn, 8, 1};
    default:
      return std::nullopt;
  }
}

bool is_watched() noexcept {
  return c10::impl::dispatch_mode_enabled();
}

bool read(PyObject* object, dlpack::Tensor* out) noexcept {
  const at::Tensor& value = THPVariable_Unpack(object);
  c10::TensorImpl& tensor = *value.unsafeGetTensorImpl();
  const auto device = device_of(tensor);
  const auto dtype = dtype_of(tensor);
  if (!device || !dtype || (tensor.requires_grad() && c10::GradMode::is_enabled())) return false;
  try {
    if (value._fw_grad(0).defined()) return false;
    *out = {tensor.mutable_data(),   *device, static_cast<std::int32_t>(tensor.dim()), *dtype, tensor.sizes().data(),
            tensor.strides().data(), 0};
    return true;
  } catch (const std::exception&) {  // memory that may not be touched
    return false;
  }
}

TensorModel* model_of(PyObject* object) noexcept {
  try {
    const at::Tensor& tensor = THPVariable_Unpack(object);
    if (!device_of(*tensor.unsafeGetTensorImpl()) || !tensor.is_contiguous()) return nullptr;
    return new TensorModel{tensor.sizes().vec(), at::TensorOptions(tensor.dtype()).device(tensor.device())};
  } catch (const std::exception&) {
    return nullptr;
  }
}

void drop_model(TensorModel* model) noexcept {
  delete model;
}

MadeTensor* make(const TensorModel* model, void** data) noexcept {
  try {
    at::Tensor made = at::empty(model->shape, model->options);
    c10::TensorImpl& tensor = *made.unsafeGetTensorImpl();
    // Where a mode of torch makes something else of it.
    if (!device_of(tensor)) throw std::runtime_error("torch made no tensor with memory; leave the mode that it is in");
    *data = tensor.mutable_data();
    return reinterpret_cast<MadeTensor*>(made.unsafeReleaseTensorImpl());
  } catch (...) {
    failure = std::current_exception();
    return nullptr;
  }
}

at::Tensor take(MadeTensor* made) {
  using Owner = c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;
  return at::Tensor(Owner::reclaim(reinterpret_cast<c10::TensorImpl*>(made)));
}

PyObject* raise_failure() {
  HANDLE_TH_ERRORS
  std::rethrow_exception(std::exchange(failure, nullptr));
  END_HANDLE_TH_ERRORS
}

PyObject* wrap(MadeTensor* made) noexcept {
  if (made == nullptr) return raise_failure();
  HANDLE_TH_ERRORS
  return THPVariable_Wrap(take(made));
  END_HANDLE_TH_ERRORS
}

void drop(MadeTensor* made) noexcept {
  take(made);
}

}  // namespace

const TorchBridge& torch_bridge() noexcept {
  static constexpr TorchBridge kBridge{.is_watched = is_watched,
                                       .read = read,
                                       .model_of = model_of,
                                       .drop_model = drop_model,
                                       .make = make,
                                       .wrap = wrap,
                                       .drop = drop};
  return kBridge;
}

}  // namespace tilegym::bindings
