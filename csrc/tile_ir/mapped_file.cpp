#include "tile_ir/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <vector>

#include "tile_ir/reader.h"
#include "tile_ir/sections.h"

namespace tilegym::tile_ir {

namespace {

Error failure(const std::filesystem::path& path, const char* step, int code) {
  return Error{"tile_ir: file " + path.string() + ": cannot " + step + ": " + std::generic_category().message(code) +
               "; give a readable file of Tile IR bytecode"};
}

class Descriptor {
 public:
  explicit Descriptor(const std::filesystem::path& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const noexcept { return fd_; }

 private:
  int fd_;
};

/// Everything a pipe or device gives, as far as a module can go.
Result<MappedFile> read_stream(const std::filesystem::path& path, int fd) {
  constexpr std::size_t kFirstRead = std::size_t{1} << 16;
  const auto bytes = std::make_shared<std::vector<std::byte>>(kFirstRead);
  std::size_t size = 0;
  while (size <= kMaxModuleBytes) {
    if (size == bytes->size()) bytes->resize(2 * size);
    const ssize_t got = ::read(fd, bytes->data() + size, bytes->size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failure(path, "read it", errno);
    if (got == 0) break;
    size += static_cast<std::size_t>(got);
    // What is no bytecode need not be read to its end, which it may not have.
    if (size >= kMagic.size() && !is_bytecode(std::span(*bytes).first(size))) break;
  }
  return MappedFile{bytes, std::span(*bytes).first(size)};
}

}  // namespace

Result<MappedFile> map_file(const std::filesystem::path& path) {
  const Descriptor file(path);
  if (file.get() < 0) return failure(path, "open it", errno);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return failure(path, "find its size", errno);
  if (S_ISDIR(status.st_mode)) return failure(path, "read it", EISDIR);
  if (!S_ISREG(status.st_mode)) return read_stream(path, file.get());
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return MappedFile{};
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) return failure(path, "map it", errno);
  std::shared_ptr<const void> storage(address, [size](void* mapped) { ::munmap(mapped, size); });
  return MappedFile{storage, {static_cast<const std::byte*>(address), size}};
}

}  // namespace tilegym::tile_ir
