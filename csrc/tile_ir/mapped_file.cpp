#include "tile_ir/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace tilegym::tile_ir {

namespace {

Error failure(const std::filesystem::path& path, const char* step, int code) {
  return Error{"tile_ir: file " + path.string() + ": cannot " + step + ": " + std::generic_category().message(code)};
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

}  // namespace

Result<MappedFile> map_file(const std::filesystem::path& path) {
  const Descriptor file(path);
  if (file.get() < 0) return failure(path, "open it", errno);
  struct stat status{};
  if (::fstat(file.get(), &status) != 0) return failure(path, "find its size", errno);
  if (!S_ISREG(status.st_mode)) return failure(path, "map it", S_ISDIR(status.st_mode) ? EISDIR : EINVAL);
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size == 0) return MappedFile{};
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) return failure(path, "map it", errno);
  std::shared_ptr<const void> storage(address, [size](void* mapped) { ::munmap(mapped, size); });
  return MappedFile{storage, {static_cast<const std::byte*>(address), size}};
}

}  // namespace tilegym::tile_ir
