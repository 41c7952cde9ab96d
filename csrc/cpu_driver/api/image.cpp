#include "cpu_driver/api/image.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "tile_ir/reader.h"
#include "tile_ir/verify.h"

namespace tilegym::cpu {
namespace {

using ModulePointer = std::shared_ptr<const tile_ir::Module>;

/// Length of the magic number of Tile IR bytecode.
constexpr std::size_t kBytecodeMagicBytes = 8;

Error not_an_image() {
  return {
      "module image: wanted Tile IR bytecode or a wrapped image (magic TILEGYMI), got something else; cubins and PTX "
      "run on a GPU only"};
}

bool is_wrapped(std::span<const std::byte> bytes) noexcept {
  return bytes.size() >= kImageMagic.size() && std::memcmp(bytes.data(), kImageMagic.data(), kImageMagic.size()) == 0;
}

/// Whether `data` starts with the magic number of wrapped images; reads up to the first difference.
bool starts_wrapped(const std::byte* data) noexcept {
  return std::equal(kImageMagic.begin(), kImageMagic.end(), data,
                    [](char wanted, std::byte got) { return static_cast<std::byte>(wanted) == got; });
}

/// Whether `data` starts as bytecode does. Bytecode's first byte is no printable character, so that the text of a short
/// PTX string ends the test at once.
bool starts_bytecode(const std::byte* data) noexcept {
  constexpr std::byte kFirst{0x7F};
  return *data == kFirst && tile_ir::is_bytecode({data, kBytecodeMagicBytes});
}

Result<ModulePointer> read_bytecode(std::span<const std::byte> bytes) {
  TILEGYM_ASSIGN(tile_ir::Module module, tile_ir::read_module(bytes));
  // Lowering relies on what the verifier promises.
  const auto broken = tile_ir::verify(module, {.limit = 1});
  if (!broken.empty()) return Error{broken.front().text()};
  return ModulePointer(std::make_shared<const tile_ir::Module>(std::move(module)));
}

Result<ImageHeader> read_header(const std::byte* data) {
  ImageHeader header{};
  std::memcpy(&header, data, sizeof(header));
  if (header.version != kImageVersion) {
    return Error{"wrapped image: wanted format version " + std::to_string(kImageVersion) + ", got " +
                 std::to_string(header.version) + "; rebuild the image with this version of tilegym"};
  }
  return header;
}

Result<ModulePointer> read_wrapped(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(ImageHeader)) return Error{"wrapped image: the header is cut off"};
  TILEGYM_ASSIGN(const ImageHeader header, read_header(bytes.data()));
  const auto body = bytes.subspan(sizeof(ImageHeader));
  if (header.bytecode_size > body.size()) {
    return Error{"wrapped image: wanted " + std::to_string(header.bytecode_size) + " bytes of bytecode, got " +
                 std::to_string(body.size())};
  }
  return read_bytecode(body.first(header.bytecode_size));
}

}  // namespace

Result<ModulePointer> read_image(const std::byte* data) {
  if (starts_wrapped(data)) {
    TILEGYM_ASSIGN(const ImageHeader header, read_header(data));
    return read_bytecode({data + sizeof(ImageHeader), header.bytecode_size});
  }
  if (!starts_bytecode(data)) return not_an_image();
  TILEGYM_ASSIGN(const std::size_t size, tile_ir::bytecode_size(data));
  return read_bytecode({data, size});
}

Result<ModulePointer> read_image(std::span<const std::byte> bytes) {
  if (is_wrapped(bytes)) return read_wrapped(bytes);
  return tile_ir::is_bytecode(bytes) ? read_bytecode(bytes) : Result<ModulePointer>(not_an_image());
}

Result<ModulePointer> read_image_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{"module file: cannot open " + path.string()};
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  return read_image(std::as_bytes(std::span(bytes)));
}

}  // namespace tilegym::cpu
