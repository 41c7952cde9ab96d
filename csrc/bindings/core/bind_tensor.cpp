#include <fmt/format.h>

#include <string>

#include "bindings/core/tensor_exchange.h"
#include "bindings/core/topics.h"
#include "runtime/dtype.h"
#include "runtime/tensor.h"

namespace tilegym::bindings {
namespace {

namespace py = pybind11;
using runtime::TensorDesc;

TensorDesc make_tensor_desc(const py::object& object) {
  runtime::dlpack::Tensor tensor;
  if (borrow_tensor(object.ptr(), tensor, "make_tensor_desc", "tensor") == nullptr) throw py::error_already_set();
  TensorDesc desc;
  if (const Status status = describe_tensor(tensor, desc); !status) {
    throw py::value_error("make_tensor_desc(): argument 'tensor': " + status.error().message);
  }
  return desc;
}

py::tuple dimensions(const TensorDesc& desc, const std::array<std::int64_t, runtime::kMaxRank>& values) {
  py::tuple result(static_cast<std::size_t>(desc.ndim));
  for (int dim = 0; dim < desc.ndim; ++dim)
    result[static_cast<std::size_t>(dim)] = values[static_cast<std::size_t>(dim)];
  return result;
}

std::string represent(const TensorDesc& desc) {
  return fmt::format("TensorDesc(ptr={:#x}, ndim={}, shape={}, strides={}, dtype={})", desc.ptr, desc.ndim,
                     std::string(py::repr(dimensions(desc, desc.shape))),
                     std::string(py::repr(dimensions(desc, desc.strides))), desc.dtype);
}

py::bytes raw_bytes(const TensorDesc& desc) {
  return {reinterpret_cast<const char*>(&desc), sizeof(desc)};
}

}  // namespace

void bind_tensor(py::module_& module) {
  py::class_<TensorDesc>(module, "TensorDesc", "A tensor as kernels get it; it does not keep the memory alive.")
      .def_readonly("ptr", &TensorDesc::ptr, "Address of element 0, storage offset included.")
      .def_readonly("ndim", &TensorDesc::ndim)
      .def_property_readonly("shape", [](const TensorDesc& desc) { return dimensions(desc, desc.shape); })
      .def_property_readonly(
          "strides", [](const TensorDesc& desc) { return dimensions(desc, desc.strides); }, "In elements.")
      .def_readonly("dtype", &TensorDesc::dtype,
                    "0 f32, 1 f16, 2 bf16, 3 i32, 4 i64, 5 f8e5m2, 6 f4e2m1 pair, 7 f8e4m3fn.")
      .def("__bytes__", raw_bytes, "The 104 bytes of the C struct.")
      .def("__repr__", represent);
  module.def(
      "make_tensor_desc", make_tensor_desc, py::arg("tensor"),
      "Describes a tensor of any device. Raises TypeError for an object that is no tensor and ValueError for more "
      "than five dimensions, a dtype that kernels do not know, or a tensor without memory.");
}

}  // namespace tilegym::bindings
