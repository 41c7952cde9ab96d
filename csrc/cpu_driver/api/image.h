#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "common/result.h"
#include "tile_ir/module.h"

namespace tilegym::cpu {

/// Head of a wrapped image; the Tile IR bytecode follows at once. Numbers are little-endian.
struct ImageHeader {
  std::array<char, 8> magic;    ///< kImageMagic
  std::uint32_t version;        ///< kImageVersion
  std::uint32_t reserved;       ///< 0
  std::uint64_t bytecode_size;  ///< bytes after the header
};
static_assert(sizeof(ImageHeader) == 24);

inline constexpr std::array<char, 8> kImageMagic{'T', 'I', 'L', 'E', 'G', 'Y', 'M', 'I'};
inline constexpr std::uint32_t kImageVersion = 1;

/// Reads a module image: raw Tile IR bytecode or a wrapped image. `data` is a bare pointer, as drivers get it; it must
/// hold a whole image. No byte is read beyond the first that rules an image out.
[[nodiscard]] Result<std::shared_ptr<const tile_ir::Module>> read_image(const std::byte* data);
/// The same from a file, whose length bounds every read.
[[nodiscard]] Result<std::shared_ptr<const tile_ir::Module>> read_image_file(const std::filesystem::path& path);
/// The same from memory of known length.
[[nodiscard]] Result<std::shared_ptr<const tile_ir::Module>> read_image(std::span<const std::byte> bytes);

}  // namespace tilegym::cpu
