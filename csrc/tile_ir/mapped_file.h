#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "common/result.h"

namespace tilegym::tile_ir {

/// Bytes a module may have; a stream is read to one byte more, so that a longer one is told from one of that size.
inline constexpr std::size_t kMaxModuleBytes = std::size_t{1} << 30;

/// A file's bytes, mapped read-only, or read where it is a stream; given back with the last copy of `storage`.
struct MappedFile {
  std::shared_ptr<const void> storage;
  std::span<const std::byte> bytes;
};

[[nodiscard]] Result<MappedFile> map_file(const std::filesystem::path& path);

}  // namespace tilegym::tile_ir
