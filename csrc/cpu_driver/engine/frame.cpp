#include "cpu_driver/engine/frame.h"

#include <cstring>
#include <new>

namespace tilegym::cpu {

Arena::~Arena() {
  ::operator delete(data_, std::align_val_t{kVectorBytes});
}

std::byte* Arena::reserve(std::size_t bytes) {
  if (bytes <= bytes_) return data_;
  ::operator delete(data_, std::align_val_t{kVectorBytes});
  data_ = nullptr;
  bytes_ = 0;
  data_ = static_cast<std::byte*>(::operator new(bytes, std::align_val_t{kVectorBytes}));
  bytes_ = bytes;
  // Touched once here, so that no kernel pays for page faults; kernels may also read lanes that nothing has written.
  std::memset(data_, 0, bytes_);
  return data_;
}

}  // namespace tilegym::cpu
