#pragma once

#include "tile_ir/module_bytes.h"
#include "tile_ir/op_table.h"

namespace tilegym::tile_ir::test {

/// Which optional parts an encoded operation has.
enum class Parts { required, all };

/// A module whose kernel holds the operation once, written after the table, and returns. The kernel has five parameters
/// of type tile<i32>; operand i is parameter i % 5, every variadic group has two operands (results: two).
std::vector<std::byte> module_with(const OpSpec& spec, std::uint8_t minor, Parts parts);

/// A kernel with that body in the same surroundings: types 0: i32, 1: tile<i32>, 2: the kernel's, strings 0: "text",
/// constants 0: one i32.
std::vector<std::byte> module_with_body(const Bytes& body, std::uint8_t minor);

}  // namespace tilegym::tile_ir::test
