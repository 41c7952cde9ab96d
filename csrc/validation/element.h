#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tilegym::validation {

enum class ElementType : std::uint8_t { f64, f32, f16, bf16, f8e4m3fn, f8e5m2, i64, i32, i16, i8, u8, boolean };

[[nodiscard]] std::size_t size_of(ElementType type) noexcept;       ///< bytes
[[nodiscard]] std::string_view name_of(ElementType type) noexcept;  ///< as torch names it
[[nodiscard]] bool is_integer(ElementType type) noexcept;

/// Reads `count` elements that lie `stride` elements apart. Every value of every type but i64 is exact as a double.
void load(ElementType type, const std::byte* first, std::int64_t stride, std::size_t count, double* out) noexcept;

/// The same for integer types, exact for all of them. Precondition: is_integer(type).
void load(ElementType type, const std::byte* first, std::int64_t stride, std::size_t count, std::int64_t* out) noexcept;

}  // namespace tilegym::validation
