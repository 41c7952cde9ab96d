#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "common/result.h"

namespace tilegym::tile_ir {

/// A file's bytes, mapped read-only; unmapped with the last copy of `storage`.
struct MappedFile {
  std::shared_ptr<const void> storage;
  std::span<const std::byte> bytes;
};

[[nodiscard]] Result<MappedFile> map_file(const std::filesystem::path& path);

}  // namespace tilegym::tile_ir
