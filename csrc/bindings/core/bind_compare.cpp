#include <pybind11/stl.h>

#include <algorithm>
#include <optional>
#include <string>

#include "bindings/comparison.h"
#include "bindings/core/tensor_exchange.h"
#include "bindings/core/topics.h"
#include "runtime/dtype.h"
#include "runtime/tensor.h"
#include "validation/compare.h"

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

void check_device(const dlpack::Tensor& tensor, const char* name) {
  auto device = runtime::device_of(tensor.device);
  if (device.ok() && device.value().kind == runtime::DriverKind::cpu) return;
  const std::string got = device.ok() ? "one on " + runtime::device_text(device.value()) : device.error().message;
  throw py::value_error(std::string("compare(): argument '") + name + "': wanted a tensor on the CPU, got " + got +
                        "; pass tensor.cpu()");
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

Borrowed borrow(const py::object& object, const char* name) {
  Borrowed borrowed{};
  if (borrow_tensor(object.ptr(), borrowed.tensor, "compare", name) == nullptr) throw py::error_already_set();
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

}  // namespace

void bind_compare(py::module_& module) {
  bind_comparison(module);
  module.def(
      "compare", compare, py::arg("actual"), py::arg("expected"), py::kw_only(), py::arg("rtol"), py::arg("atol"),
      py::arg("equal_nan") = false, py::arg("keep") = 1, py::arg("block") = py::none(),
      "Compares two CPU tensors of one shape in one pass; dtypes may differ. `keep` first and `keep` worst mismatches "
      "are kept; `block`, extents over the trailing dimensions, asks for the mismatches of each tile block. Raises "
      "TypeError for an object that is no tensor, ValueError for another device, shape or dtype.");
  py::class_<PiecewiseComparison>(module, "PiecewiseComparison",
                                  "compare() for tensors that are not in host memory as a whole.")
      .def(py::init(&start), py::arg("shape"), py::kw_only(), py::arg("rtol"), py::arg("atol"),
           py::arg("equal_nan") = false, py::arg("keep") = 1, py::arg("block") = py::none())
      .def("add", add, py::arg("actual"), py::arg("expected"), py::arg("first"),
           "Adds consecutive elements of the whole's row-major order, from element `first` on.")
      .def("result", &PiecewiseComparison::result);
}

}  // namespace tilegym::bindings
