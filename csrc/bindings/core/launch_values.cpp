#include "bindings/core/launch_values.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <optional>

#include "bindings/core/array_memory.h"
#include "bindings/core/float_bits.h"
#include "bindings/core/python_text.h"

namespace tilegym::bindings {
namespace {

namespace py = pybind11;
using runtime::LaunchArgument;
using tile_ir::ElementType;

/// The array kind that holds an element type; integers have one for all widths.
ArrayKind wanted_kind(ElementType element) {
  switch (element) {
    case ElementType::i1:
      return ArrayKind::boolean;
    case ElementType::bf16:
      return ArrayKind::bfloat;
    case ElementType::f8e4m3fn:
      return ArrayKind::float8_e4m3fn;
    case ElementType::f8e5m2:
      return ArrayKind::float8_e5m2;
    case ElementType::f8e8m0fnu:
      return ArrayKind::float8_e8m0fnu;
    case ElementType::f4e2m1fn:
      return ArrayKind::float4_pair;
    default:
      return tile_ir::is_float(element) ? ArrayKind::floating : ArrayKind::integer;
  }
}

bool holds(const ArrayMemory& memory, ElementType element) {
  if (memory.element_bytes != tile_ir::byte_size(element)) return false;
  const ArrayKind wanted = wanted_kind(element);
  const bool integers = memory.kind == ArrayKind::integer && wanted == ArrayKind::boolean;
  return memory.kind == wanted || memory.kind == ArrayKind::raw || integers;
}

LaunchArgument range_of(const ArrayMemory& memory, std::string name) {
  return {memory.element0, true, memory.begin, memory.bytes, std::move(name)};
}

[[noreturn]] void throw_type_error(const std::string& name, const std::string& wanted, const py::handle& value) {
  throw py::type_error(fmt::format("{}: wanted {}, got {}", name, wanted, type_text(value.ptr())));
}

std::uint64_t integer_bits(ElementType element, const py::handle& value, const std::string& name) {
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (!number) {
    PyErr_Clear();
    throw_type_error(name, fmt::format("an integer for {}", tile_ir::name(element)), value);
  }
  const int bits = tile_ir::bit_width(element);
  const py::int_ one(1);
  const py::object low = -(one << py::int_(bits - 1));
  const py::object high = one << py::int_(bits);
  if (number < low || number >= high) {
    throw py::value_error(fmt::format("{}: wanted an integer of {} bits for {}, got {}", name, bits,
                                      tile_ir::name(element), std::string(py::str(number))));
  }
  return PyLong_AsUnsignedLongLongMask(number.ptr());
}

std::uint64_t float_bits(ElementType element, const py::handle& value, const std::string& name) {
  const double number = PyFloat_AsDouble(value.ptr());
  if (number == -1.0 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    throw_type_error(name, fmt::format("a number for {}", tile_ir::name(element)), value);
  }
  const auto bits = bits_of(element, number);
  if (bits) return *bits;
  throw py::value_error(fmt::format("{}: wanted a value that {} holds, got {}", name, tile_ir::name(element), number));
}

}  // namespace

std::string EntryParameter::type_text() const {
  return is_pointer ? fmt::format("ptr<{}>", tile_ir::name(element)) : std::string(tile_ir::name(element));
}

void LaunchValues::add(const EntryParameter& parameter, const py::handle& value, std::string name) {
  if (!parameter.is_pointer) {
    const bool floating = tile_ir::is_float(parameter.element);
    const std::uint64_t bits = (floating ? float_bits : integer_bits)(parameter.element, value, name);
    arguments_.push_back({bits, false, 0, 0, std::move(name)});
    return;
  }
  if (value.is_none()) {
    arguments_.push_back({0, true, 0, 0, std::move(name)});
    return;
  }
  ArrayMemory memory = array_memory(value, name);
  if (!holds(memory, parameter.element)) {
    throw py::type_error(
        fmt::format("{}: wanted an array for {}, got {}; pass one of that type or its bits as unsigned integers", name,
                    parameter.type_text(), memory.dtype));
  }
  keepers_.push_back(std::move(memory.keeper));
  arguments_.push_back(range_of(memory, std::move(name)));
}

void LaunchValues::add_memory(const py::handle& value, std::string name) {
  ArrayMemory memory = array_memory(value, name);
  keepers_.push_back(std::move(memory.keeper));
  memory_.push_back(range_of(memory, std::move(name)));
}

}  // namespace tilegym::bindings
