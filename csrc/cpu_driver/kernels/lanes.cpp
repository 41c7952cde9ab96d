#include "cpu_driver/kernels/kernels.h"

namespace tilegym::cpu {

std::size_t lane_bytes(Lane lane) noexcept {
  constexpr std::size_t kBytes[] = {4, 8, 1, 2, 4, 8, 1};
  return kBytes[static_cast<std::size_t>(lane)];
}

Lane lane_of(tile_ir::ElementType type) noexcept {
  using enum tile_ir::ElementType;
  switch (type) {
    case i1:
      return Lane::mask;
    case i4:
    case i8:
      return Lane::i8;
    case i16:
      return Lane::i16;
    case i32:
      return Lane::i32;
    case i64:
      return Lane::i64;
    case f64:
      return Lane::f64;
    default:
      return Lane::f32;
  }
}

}  // namespace tilegym::cpu
