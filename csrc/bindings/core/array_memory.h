#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>

namespace tilegym::bindings {

/// Kinds of array elements that a kernel's element types are compared with.
enum class ArrayKind : std::uint8_t {
  boolean,
  integer,
  raw,  ///< unsigned integers: also the bits of any other type
  floating,
  bfloat,
  float8_e4m3fn,
  float8_e5m2,
  float8_e8m0fnu,
  float4_pair,
  other
};

/// The memory of an array in host memory that may be written.
struct ArrayMemory {
  std::uint64_t element0 = 0;  ///< address
  std::uint64_t begin = 0;     ///< first byte that an element covers
  std::uint64_t bytes = 0;     ///< up to the last one; 0 for an array without elements
  ArrayKind kind = ArrayKind::other;
  std::size_t element_bytes = 0;
  std::string dtype;        ///< for texts
  pybind11::object keeper;  ///< keeps the memory where it is
};

/// The memory of a torch tensor, a numpy array, or any other object with a DLPack or a buffer interface. `name` is the
/// argument in error texts. Raises TypeError for an object that is no array, ValueError for one that is not in host
/// memory, is read-only or is byte-swapped.
[[nodiscard]] ArrayMemory array_memory(const pybind11::handle& object, const std::string& name);

}  // namespace tilegym::bindings
