#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <string>

#include "bindings/core/compare_image.h"
#include "bindings/core/comparison.h"
#include "bindings/core/tensor_exchange.h"
#include "bindings/core/topics.h"
#include "runtime/dtype.h"
#include "runtime/tensor.h"
#include "validation/compare.h"
#include "validation/cuda_queue.h"
#include "validation/device_compare.h"

namespace tilegym::bindings {
namespace {

namespace py = pybind11;
namespace dlpack = runtime::dlpack;
using dlpack::TypeCode;
using validation::ArrayView;
using validation::Comparison;
using validation::Detail;
using validation::ElementType;
using validation::PiecewiseComparison;

struct TypeRow {
  dlpack::DataType dtype;
  ElementType element;
};

constexpr TypeRow kTypes[] = {
    {{TypeCode::floating, 64, 1}, ElementType::f64},          {{TypeCode::floating, 32, 1}, ElementType::f32},
    {{TypeCode::floating, 16, 1}, ElementType::f16},          {{TypeCode::bfloat, 16, 1}, ElementType::bf16},
    {{TypeCode::float8_e4m3fn, 8, 1}, ElementType::f8e4m3fn}, {{TypeCode::float8_e5m2, 8, 1}, ElementType::f8e5m2},
    {{TypeCode::integer, 64, 1}, ElementType::i64},           {{TypeCode::integer, 32, 1}, ElementType::i32},
    {{TypeCode::integer, 16, 1}, ElementType::i16},           {{TypeCode::integer, 8, 1}, ElementType::i8},
    {{TypeCode::unsigned_integer, 8, 1}, ElementType::u8},    {{TypeCode::boolean, 8, 1}, ElementType::boolean},
};

ElementType element_type(const dlpack::Tensor& tensor, const char* name) {
  for (const TypeRow& row : kTypes) {
    if (row.dtype == tensor.dtype) return row.element;
  }
  throw py::value_error(std::string("compare(): argument '") + name +
                        "': wanted a real dtype of at least 8 bits, got " + runtime::dtype_name(tensor.dtype));
}

runtime::Device device_of(const dlpack::Tensor& tensor, const char* name) {
  auto device = runtime::device_of(tensor.device);
  if (device.ok()) return device.value();
  throw py::value_error(std::string("compare(): argument '") + name + "': " + device.error().message);
}

void check_device(const dlpack::Tensor& tensor, const char* name) {
  const runtime::Device device = device_of(tensor, name);
  if (device.kind == runtime::DriverKind::cpu) return;
  throw py::value_error(std::string("compare(): argument '") + name + "': wanted a tensor on the CPU, got one on " +
                        runtime::device_text(device) + "; pass tensor.cpu()");
}

/// A tensor of either argument. Packed strides are made up where the producer leaves them out.
struct Borrowed {
  dlpack::Tensor tensor;
  std::vector<std::int64_t> packed;

  ArrayView view(const char* name) {
    const auto rank = static_cast<std::size_t>(tensor.ndim);
    if (tensor.strides == nullptr && rank > 0) pack(rank);
    return {element_type(tensor, name),
            static_cast<const std::byte*>(tensor.data) + tensor.byte_offset,
            {tensor.shape, rank},
            {tensor.strides, rank}};
  }

 private:
  void pack(std::size_t rank) {
    packed.assign(rank, 1);
    for (std::size_t dim = rank - 1; dim > 0; --dim) packed[dim - 1] = packed[dim] * tensor.shape[dim];
    tensor.strides = packed.data();
  }
};

Borrowed borrow_anywhere(const py::object& object, const char* name) {
  Borrowed borrowed{};
  if (borrow_tensor(object.ptr(), borrowed.tensor, "compare", name) == nullptr) throw py::error_already_set();
  return borrowed;
}

Borrowed borrow(const py::object& object, const char* name) {
  Borrowed borrowed = borrow_anywhere(object, name);
  check_device(borrowed.tensor, name);
  return borrowed;
}

using Extents = std::vector<std::int64_t>;

Detail detail_of(std::int64_t keep, const std::optional<Extents>& block) {
  return {static_cast<std::size_t>(std::max<std::int64_t>(keep, 0)), block.value_or(Extents{})};
}

Comparison compare(const py::object& actual, const py::object& expected, double rtol, double atol, bool equal_nan,
                   std::int64_t keep, const std::optional<Extents>& block) {
  Borrowed first = borrow(actual, "actual");
  Borrowed second = borrow(expected, "expected");
  const ArrayView actual_view = first.view("actual");
  const ArrayView expected_view = second.view("expected");
  auto result = [&] {
    const py::gil_scoped_release unlocked;
    return validation::compare(actual_view, expected_view, {rtol, atol, equal_nan}, detail_of(keep, block));
  }();
  if (!result) throw py::value_error(result.error().message);
  return std::move(result).value();
}

/// The one CUDA device of three tensors.
runtime::Device common_device(const Borrowed& actual, const Borrowed& expected, const Borrowed& workspace) {
  const runtime::Device device = device_of(actual.tensor, "actual");
  for (const auto& [other, name] : {std::pair{&expected, "expected"}, {&workspace, "workspace"}}) {
    if (device_of(other->tensor, name) == device && device.kind == runtime::DriverKind::cuda) continue;
    throw py::value_error(std::string("compare_cuda(): wanted three tensors on one CUDA device, got actual on ") +
                          runtime::device_text(device) + " and " + name + " on " +
                          runtime::device_text(device_of(other->tensor, name)));
  }
  return device;
}

std::span<std::byte> bytes_of(Borrowed& workspace) {
  const ArrayView view = workspace.view("workspace");
  if (view.type != ElementType::u8 || view.shape.size() != 1 || view.strides[0] != 1) {
    throw py::value_error("compare_cuda(): argument 'workspace': wanted packed bytes, uint8 of one dimension");
  }
  return {const_cast<std::byte*>(view.data), static_cast<std::size_t>(view.shape[0])};
}

Comparison compare_cuda(const py::object& actual, const py::object& expected, const py::object& workspace,
                        std::uintptr_t stream, double rtol, double atol, bool equal_nan, std::int64_t keep,
                        const std::optional<Extents>& block) {
  Borrowed first = borrow_anywhere(actual, "actual");
  Borrowed second = borrow_anywhere(expected, "expected");
  Borrowed memory = borrow_anywhere(workspace, "workspace");
  const runtime::Device device = common_device(first, second, memory);
  const ArrayView actual_view = first.view("actual");
  const ArrayView expected_view = second.view("expected");
  const std::span<std::byte> bytes = bytes_of(memory);
  auto result = [&]() -> Result<Comparison> {
    const py::gil_scoped_release unlocked;
    TILEGYM_ASSIGN(const auto queue, validation::open_cuda_queue(compare_image(), device.ordinal, stream));
    return validation::compare_on_device(*queue, actual_view, expected_view, {rtol, atol, equal_nan},
                                         detail_of(keep, block), bytes);
  }();
  if (!result) throw py::value_error(result.error().message);
  return std::move(result).value();
}

PiecewiseComparison start(const Extents& shape, double rtol, double atol, bool equal_nan, std::int64_t keep,
                          const std::optional<Extents>& block) {
  auto result = PiecewiseComparison::start(shape, {rtol, atol, equal_nan}, detail_of(keep, block));
  if (!result) throw py::value_error(result.error().message);
  return std::move(result).value();
}

void add(PiecewiseComparison& comparison, const py::object& actual, const py::object& expected, std::int64_t position) {
  Borrowed first = borrow(actual, "actual");
  Borrowed second = borrow(expected, "expected");
  const Status added = comparison.add(first.view("actual"), second.view("expected"), position);
  if (!added) throw py::value_error(added.error().message);
}

void add_matching(PiecewiseComparison& comparison, std::int64_t elements, double sum, double max_abs, double max_rel,
                  double max_ulp, std::int64_t signed_zeros, std::int64_t position,
                  const std::vector<double>& samples) {
  const Status added =
      comparison.add_matching({elements, sum, max_abs, max_rel, max_ulp, signed_zeros}, position, samples);
  if (!added) throw py::value_error(added.error().message);
}

}  // namespace

void bind_compare(py::module_& module) {
  bind_comparison(module);
  module.def(
      "compare", compare, py::arg("actual"), py::arg("expected"), py::kw_only(), py::arg("rtol"), py::arg("atol"),
      py::arg("equal_nan") = false, py::arg("keep") = 1, py::arg("block") = py::none(),
      "Compares two CPU tensors of one shape in one pass; dtypes may differ. `keep` first and `keep` worst mismatches "
      "are kept; `block`, extents over the trailing dimensions, asks for the errors of each tile block. Raises "
      "TypeError for an object that is no tensor, ValueError for another device, shape or dtype.");
  module.def(
      "compare_cuda", compare_cuda, py::arg("actual"), py::arg("expected"), py::arg("workspace"), py::arg("stream"),
      py::kw_only(), py::arg("rtol"), py::arg("atol"), py::arg("equal_nan") = false, py::arg("keep") = 1,
      py::arg("block") = py::none(),
      "compare() for two tensors on one CUDA device, in one pass there on `stream`, a CUstream; waits for it. "
      "`workspace` is a uint8 tensor of cuda_workspace_bytes() there. Raises ValueError also where cuda_kernels is "
      "False and for more than 16 dimensions.");
  module.def(
      "cuda_workspace_bytes",
      [](const Extents& shape, const std::optional<Extents>& block) {
        return validation::device_workspace_bytes(shape, detail_of(1, block));
      },
      py::arg("shape"), py::arg("block") = py::none());
  module.attr("cuda_kernels") = !compare_image().empty();
  py::class_<PiecewiseComparison>(module, "PiecewiseComparison",
                                  "compare() for tensors that are not in host memory as a whole.")
      .def(py::init(&start), py::arg("shape"), py::kw_only(), py::arg("rtol"), py::arg("atol"),
           py::arg("equal_nan") = false, py::arg("keep") = 1, py::arg("block") = py::none())
      .def("add", add, py::arg("actual"), py::arg("expected"), py::arg("first"),
           "Adds consecutive elements of the whole's row-major order, from element `first` on.")
      .def("add_matching", add_matching, py::arg("elements"), py::arg("sum"), py::arg("max_abs"), py::arg("max_rel"),
           py::arg("max_ulp"), py::arg("signed_zeros"), py::arg("first"), py::arg("samples"),
           "Adds consecutive elements that were found finite and matching elsewhere; `samples` are the errors of every "
           "sample_stride-th element of the whole among them.")
      .def_property_readonly("sample_stride", &PiecewiseComparison::sample_stride)
      .def("result", &PiecewiseComparison::result);
}

}  // namespace tilegym::bindings
