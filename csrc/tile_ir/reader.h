#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "common/result.h"
#include "tile_ir/module.h"

namespace tilegym::tile_ir {

/// Whether the bytes start with the magic number of Tile IR bytecode.
[[nodiscard]] bool is_bytecode(std::span<const std::byte> bytes) noexcept;

/// Length in bytes of the bytecode module that starts at `data`, found from its section headers; the memory must hold a
/// whole module (drivers get images as a bare pointer).
[[nodiscard]] Result<std::size_t> bytecode_size(const std::byte* data) noexcept;

struct ReadOptions {
  /// An operation that the file's version does not have ends its function (Function::unread) instead of the reading.
  bool keep_unknown = false;
};

/// Reads a whole module, versions 13.1 to 13.3. Never trusts a length or an index: every error names what was being
/// read and the byte offset. The bytes are copied. Source: NVIDIA cuda-tile, lib/Bytecode and Ops.td.
[[nodiscard]] Result<Module> read_module(std::span<const std::byte> bytes, ReadOptions options = {});

/// The same without a copy: the module's views point into `bytes`, which `storage` keeps alive.
[[nodiscard]] Result<Module> read_module(std::shared_ptr<const void> storage, std::span<const std::byte> bytes,
                                         ReadOptions options = {});

/// Reads a file that is mapped into memory for as long as the module lives, or a pipe or device to its end.
/// Precondition: nobody shortens a mapped file meanwhile.
[[nodiscard]] Result<Module> read_file(const std::filesystem::path& path, ReadOptions options = {});

}  // namespace tilegym::tile_ir
