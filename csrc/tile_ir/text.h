#pragma once

#include <charconv>
#include <concepts>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "tile_ir/module.h"

/// Pieces of the text form that stand for themselves.
namespace tilegym::tile_ir {

/// The number in decimal digits.
template <std::integral Number>
void append_number(std::string& out, Number number) {
  char digits[std::numeric_limits<Number>::digits10 + 3];
  out.append(digits, std::to_chars(std::begin(digits), std::end(digits), number).ptr);
}
/// The text between quotes, with escapes.
void append_quoted(std::string& out, std::string_view text);
/// "@name", quoted where the name is no identifier.
void append_symbol(std::string& out, std::string_view name);
/// As types stand in operations: "tile<4xf32>", "tensor_view<?x64xf32, strides=[?,1]>".
void append_type(std::string& out, const Module& module, const Type& type);
/// The value as the operation of the attribute writes it: a keyword, a number, a text.
void append_attribute(std::string& out, const Module& module, AttrName name, const Attribute& value);
/// "<f32: 1.000000e+00>": element type and elements of a constant tile.
void append_dense(std::string& out, const Type& tile, std::span<const std::byte> bytes, bool splat);

/// Whether the text leaves the last operation of a region of `parent` away, because it goes without saying.
[[nodiscard]] bool is_hidden_terminator(const Operation& parent, const Operation& operation) noexcept;

}  // namespace tilegym::tile_ir
