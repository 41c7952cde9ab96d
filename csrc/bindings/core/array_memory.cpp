#include "bindings/core/array_memory.h"

#include <fmt/format.h>

#include <memory>
#include <span>
#include <string_view>

#include "bindings/core/python_text.h"
#include "bindings/core/tensor_exchange.h"
#include "runtime/dtype.h"

namespace tilegym::bindings {
namespace {

namespace py = pybind11;
namespace dlpack = runtime::dlpack;

/// Bytes covered by elements at `strides` (in bytes) from `element0`.
void cover(ArrayMemory& memory, std::span<const std::int64_t> shape, std::span<const std::int64_t> strides) {
  std::int64_t lowest = 0;
  std::int64_t highest = static_cast<std::int64_t>(memory.element_bytes);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 0) highest = lowest = 0;
    if (highest == lowest) break;
    (strides[d] < 0 ? lowest : highest) += (shape[d] - 1) * strides[d];
  }
  memory.begin = memory.element0 + static_cast<std::uint64_t>(lowest);
  memory.bytes = static_cast<std::uint64_t>(highest - lowest);
}

ArrayKind kind_of(dlpack::TypeCode code) {
  switch (code) {
    case dlpack::TypeCode::integer:
      return ArrayKind::integer;
    case dlpack::TypeCode::unsigned_integer:
      return ArrayKind::raw;
    case dlpack::TypeCode::boolean:
      return ArrayKind::boolean;
    case dlpack::TypeCode::floating:
      return ArrayKind::floating;
    case dlpack::TypeCode::bfloat:
      return ArrayKind::bfloat;
    case dlpack::TypeCode::float8_e4m3fn:
      return ArrayKind::float8_e4m3fn;
    case dlpack::TypeCode::float8_e5m2:
      return ArrayKind::float8_e5m2;
    case dlpack::TypeCode::float8_e8m0fnu:
      return ArrayKind::float8_e8m0fnu;
    case dlpack::TypeCode::float4_e2m1fn:
      return ArrayKind::float4_pair;
    default:
      return ArrayKind::other;
  }
}

bool in_host_memory(dlpack::DeviceType type) noexcept {
  return type == dlpack::DeviceType::cpu || type == dlpack::DeviceType::cuda_host ||
         type == dlpack::DeviceType::cuda_managed;
}

std::vector<std::int64_t> byte_strides(const dlpack::Tensor& tensor, std::int64_t element_bytes) {
  std::vector<std::int64_t> strides(static_cast<std::size_t>(tensor.ndim));
  std::int64_t packed = element_bytes;
  for (std::size_t d = strides.size(); d-- > 0;) {
    strides[d] = tensor.strides == nullptr ? packed : tensor.strides[d] * element_bytes;
    packed *= tensor.shape[d];
  }
  return strides;
}

ArrayMemory memory_of_tensor(const py::handle& object, const std::string& name) {
  dlpack::Tensor tensor;
  if (borrow_tensor(object.ptr(), tensor, "launch", name.c_str()) == nullptr) throw py::error_already_set();
  if (!in_host_memory(tensor.device.type)) {
    throw py::value_error(fmt::format("{}: wanted a CPU tensor, got one on another device; copy it with .cpu()", name));
  }
  ArrayMemory memory;
  memory.element0 = reinterpret_cast<std::uint64_t>(tensor.data) + tensor.byte_offset;
  memory.kind = kind_of(tensor.dtype.code);
  memory.element_bytes = (static_cast<std::size_t>(tensor.dtype.bits) * tensor.dtype.lanes + 7) / 8;
  memory.dtype = runtime::dtype_name(tensor.dtype);
  memory.keeper = py::reinterpret_borrow<py::object>(object);
  const auto strides = byte_strides(tensor, static_cast<std::int64_t>(memory.element_bytes));
  cover(memory, {tensor.shape, strides.size()}, strides);
  return memory;
}

/// By the letter of Python's struct module.
ArrayKind kind_of(char letter) noexcept {
  const auto in = [letter](std::string_view letters) { return letters.find(letter) != std::string_view::npos; };
  if (letter == '?') return ArrayKind::boolean;
  if (in("bhilqn")) return ArrayKind::integer;
  if (in("BHILQNc")) return ArrayKind::raw;
  return in("efd") ? ArrayKind::floating : ArrayKind::other;
}

using Buffer = std::unique_ptr<Py_buffer, void (*)(Py_buffer*)>;

Buffer get_buffer(const py::handle& object) {
  Buffer buffer(new Py_buffer{}, [](Py_buffer* view) {
    PyBuffer_Release(view);
    delete view;
  });
  if (PyObject_GetBuffer(object.ptr(), buffer.get(), PyBUF_RECORDS_RO) != 0) {
    PyErr_Clear();
    return {nullptr, [](Py_buffer*) {}};
  }
  return buffer;
}

py::object keep(Buffer buffer) {
  return py::capsule(buffer.release(), [](void* view) {
    PyBuffer_Release(static_cast<Py_buffer*>(view));
    delete static_cast<Py_buffer*>(view);
  });
}

std::string dtype_text(const py::handle& object, std::string_view format) {
  const py::object dtype = py::getattr(object, "dtype", py::none());
  return dtype.is_none() ? fmt::format("elements of format '{}'", format) : std::string(py::str(dtype));
}

void check_buffer(const Py_buffer& buffer, std::string_view format, const std::string& name) {
  if (buffer.readonly != 0) {
    throw py::value_error(name + ": wanted memory that a kernel may write, got a read-only array; pass a copy");
  }
  if (!format.empty() && (format.front() == '>' || format.front() == '!') && buffer.itemsize > 1) {
    throw py::value_error(name + ": wanted the machine's byte order, got a byte-swapped array; convert it first");
  }
}

ArrayMemory memory_of_buffer(Buffer buffer, const py::handle& object, const std::string& name) {
  const std::string_view format = buffer->format == nullptr ? "B" : buffer->format;
  check_buffer(*buffer, format, name);
  ArrayMemory memory;
  memory.element0 = reinterpret_cast<std::uint64_t>(buffer->buf);
  memory.kind = format.empty() ? ArrayKind::other : kind_of(format.back());
  // A record's format has several letters behind the byte order.
  if (format.find_first_of("T{(Z") != std::string_view::npos) memory.kind = ArrayKind::other;
  memory.element_bytes = static_cast<std::size_t>(buffer->itemsize);
  memory.dtype = dtype_text(object, format);
  const auto rank = static_cast<std::size_t>(buffer->ndim);
  const std::vector<std::int64_t> shape(buffer->shape, buffer->shape + rank);
  const std::vector<std::int64_t> strides(buffer->strides, buffer->strides + rank);
  cover(memory, shape, strides);
  memory.keeper = keep(std::move(buffer));
  return memory;
}

struct NamedKind {
  std::string_view dtype;
  ArrayKind kind;
};
/// Types that numpy gets from ml_dtypes; they have no buffer interface of their own. Those below eight bits take a byte
/// an element there, which kernels do not.
constexpr NamedKind kNamedKinds[] = {{"bfloat16", ArrayKind::bfloat},
                                     {"float8_e4m3fn", ArrayKind::float8_e4m3fn},
                                     {"float8_e5m2", ArrayKind::float8_e5m2},
                                     {"float8_e8m0fnu", ArrayKind::float8_e8m0fnu}};

/// An array of a named type as one of unsigned integers over the same memory.
ArrayMemory memory_of_named(const py::handle& object, const std::string& name) {
  const std::string dtype = py::str(object.attr("dtype"));
  for (const NamedKind& row : kNamedKinds) {
    if (row.dtype != dtype) continue;
    const auto bytes = object.attr("dtype").attr("itemsize").cast<int>();
    const py::object bits = object.attr("view")(fmt::format("u{}", bytes));
    ArrayMemory memory = memory_of_buffer(get_buffer(bits), object, name);
    memory.kind = row.kind;
    return memory;
  }
  throw py::type_error(
      fmt::format("{}: wanted an array of a type that kernels know, got dtype {}; pass its bits as unsigned integers",
                  name, dtype));
}

}  // namespace

ArrayMemory array_memory(const py::handle& object, const std::string& name) {
  if (exchange_api(object.ptr()) != nullptr) return memory_of_tensor(object, name);
  if (Buffer buffer = get_buffer(object)) return memory_of_buffer(std::move(buffer), object, name);
  if (py::hasattr(object, "dtype") && py::hasattr(object, "__array_interface__")) return memory_of_named(object, name);
  if (py::hasattr(object, "__dlpack__")) {
    const py::object array = py::module_::import("numpy").attr("from_dlpack")(object);
    return memory_of_buffer(get_buffer(array), array, name);
  }
  throw py::type_error(fmt::format("{}: wanted a tensor, an array or another object with memory, got {}", name,
                                   type_text(object.ptr())));
}

}  // namespace tilegym::bindings
