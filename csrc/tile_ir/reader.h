#pragma once

#include <cstddef>
#include <span>

#include "common/result.h"
#include "tile_ir/module.h"

namespace tilegym::tile_ir {

/// Whether the bytes start with the magic number of Tile IR bytecode.
[[nodiscard]] bool is_bytecode(std::span<const std::byte> bytes) noexcept;

/// Length in bytes of the bytecode module that starts at `data`, found from its section headers; the memory must hold a
/// whole module (drivers get images as a bare pointer).
[[nodiscard]] Result<std::size_t> bytecode_size(const std::byte* data) noexcept;

/// Reads a whole module, versions 13.1 to 13.3. Never trusts a length or an index: every error names what was being
/// read and the byte offset. Source: NVIDIA cuda-tile, lib/Bytecode and Ops.td.
[[nodiscard]] Result<Module> read_module(std::span<const std::byte> bytes);

}  // namespace tilegym::tile_ir
