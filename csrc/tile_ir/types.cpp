#include "tile_ir/types.h"

#include <algorithm>
#include <iterator>

namespace tilegym::tile_ir {

namespace {

struct ElementInfo {
  ElementType type;
  std::string_view name;
  int bits;
  bool floating;
};

constexpr ElementInfo kElements[] = {
    {ElementType::i1, "i1", 1, false},
    {ElementType::i8, "i8", 8, false},
    {ElementType::i16, "i16", 16, false},
    {ElementType::i32, "i32", 32, false},
    {ElementType::i64, "i64", 64, false},
    {ElementType::f16, "f16", 16, true},
    {ElementType::bf16, "bf16", 16, true},
    {ElementType::f32, "f32", 32, true},
    {ElementType::tf32, "tf32", 32, true},
    {ElementType::f64, "f64", 64, true},
    {ElementType::f8e4m3fn, "f8E4M3FN", 8, true},
    {ElementType::f8e5m2, "f8E5M2", 8, true},
    {ElementType::f8e8m0fnu, "f8E8M0FNU", 8, true},
    {ElementType::f4e2m1fn, "f4E2M1FN", 4, true},
    {ElementType::i4, "i4", 4, false},
};

const ElementInfo* find(ElementType type) noexcept {
  const auto* row = std::ranges::find(kElements, type, &ElementInfo::type);
  return row == std::end(kElements) ? nullptr : row;
}

}  // namespace

std::string_view name(ElementType type) noexcept {
  const ElementInfo* info = find(type);
  return info == nullptr ? "unknown" : info->name;
}

int bit_width(ElementType type) noexcept {
  const ElementInfo* info = find(type);
  return info == nullptr ? 0 : info->bits;
}

std::size_t byte_size(ElementType type) noexcept {
  return (static_cast<std::size_t>(bit_width(type)) + 7) / 8;
}

bool is_float(ElementType type) noexcept {
  const ElementInfo* info = find(type);
  return info != nullptr && info->floating;
}

std::int64_t Type::element_count() const noexcept {
  std::int64_t count = 1;
  for (const std::int64_t extent : shape) count *= extent;
  return count;
}

}  // namespace tilegym::tile_ir
