#include "bindings/core/compare_image.h"

#if defined(TILEGYM_COMPARE_IMAGE)
asm(R"(
  .section .rodata
  .balign 16
tilegym_compare_image:
  .incbin ")" TILEGYM_COMPARE_IMAGE R"("
tilegym_compare_image_end:
  .byte 0
  .previous
)");
extern "C" {
[[gnu::visibility("hidden")]] extern const std::byte tilegym_compare_image[];
[[gnu::visibility("hidden")]] extern const std::byte tilegym_compare_image_end[];
}
#endif

namespace tilegym::bindings {

std::span<const std::byte> compare_image() noexcept {
#if defined(TILEGYM_COMPARE_IMAGE)
  return {tilegym_compare_image, tilegym_compare_image_end};
#else
  return {};
#endif
}

}  // namespace tilegym::bindings
