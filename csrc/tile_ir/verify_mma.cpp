#include <algorithm>
#include <iterator>
#include <string>

#include "tile_ir/verify_checks.h"

namespace tilegym::tile_ir {

namespace {

/// Extents that a matrix product compares: `left_dim` of operand group `left` and `right_dim` of `right`.
struct EqualExtents {
  std::size_t left, left_dim, right, right_dim;
};

bool verify_extents(const OpCheck& check, const EqualExtents& pair, std::size_t batched) {
  const auto at = [&](std::size_t group, std::size_t dim) { return check.operand(group).shape[dim + batched]; };
  const std::int64_t left = at(pair.left, pair.left_dim);
  const std::int64_t right = at(pair.right, pair.right_dim);
  if (left == right) return true;
  const auto name = [&](std::size_t group, std::size_t dim) {
    return "dimension " + std::to_string(dim + batched) + " of " + std::string(check.spec.operands[group].name);
  };
  check.fail({name(pair.right, pair.right_dim), std::to_string(left) + " like " + name(pair.left, pair.left_dim),
              std::to_string(right), "shapes are (m, k) times (k, n) plus (m, n)"});
  return false;
}

bool verify_batch(const OpCheck& check, std::size_t left, std::size_t right) {
  return check.operand(0).shape.size() == 2 || verify_extents(check, {left, 0, right, 0}, 0);
}

struct Product {
  ElementType operand;
  FixedList<ElementType, 2> sums;
};

constexpr Product kProducts[] = {
    {ElementType::f8e4m3fn, {ElementType::f16, ElementType::f32}},
    {ElementType::f8e5m2, {ElementType::f16, ElementType::f32}},
    {ElementType::f16, {ElementType::f16, ElementType::f32}},
    {ElementType::bf16, {ElementType::f32}},
    {ElementType::tf32, {ElementType::f32}},
    {ElementType::f32, {ElementType::f32}},
    {ElementType::f64, {ElementType::f64}},
};

/// How many elements share one scale.
struct Scaling {
  ElementType operand;
  ElementType scale;
  FixedList<std::int64_t, 2> sizes;
};

constexpr Scaling kScalings[] = {
    {ElementType::f8e4m3fn, ElementType::f8e8m0fnu, {32}},
    {ElementType::f8e5m2, ElementType::f8e8m0fnu, {32}},
    {ElementType::f4e2m1fn, ElementType::f8e4m3fn, {16}},
    {ElementType::f4e2m1fn, ElementType::f8e8m0fnu, {16, 32}},
};

void verify_scale_size(const OpCheck& check, const Scaling& scaling, std::int64_t extent, std::int64_t scales) {
  if (extent % scales == 0 && std::ranges::find(scaling.sizes, extent / scales) != scaling.sizes.end()) return;
  std::string sizes;
  for (const std::int64_t size : scaling.sizes) sizes += (sizes.empty() ? "" : " or ") + std::to_string(size);
  check.fail({"scales", "one for " + sizes + " elements of " + std::string(name(scaling.operand)),
              std::to_string(scales) + " for " + std::to_string(extent), "change the extent of the scales along k"});
}

}  // namespace

void check_mma_shapes(OpCheck& check) {
  const std::size_t rank = check.operand(0).shape.size();
  if (rank != 2 && rank != 3) {
    check.fail({"operand 'lhs'", "rank 2 or 3", "rank " + std::to_string(rank), "reshape the operands to matrices"});
    return;
  }
  const std::size_t batched = rank - 2;
  if (!verify_batch(check, 0, 1) || !verify_batch(check, 0, 2)) return;
  for (const EqualExtents& pair : {EqualExtents{0, 1, 1, 0}, EqualExtents{0, 0, 2, 0}, EqualExtents{1, 1, 2, 1}}) {
    if (!verify_extents(check, pair, batched)) return;
  }
}

void check_mma_elements(OpCheck& check) {
  const ElementType sum = check.operand(2).element;
  const auto* row = std::ranges::find(kProducts, check.operand(0).element, &Product::operand);
  if (row == std::end(kProducts) || std::ranges::find(row->sums, sum) != row->sums.end()) return;
  std::string sums;
  for (const ElementType type : row->sums) sums += (sums.empty() ? "" : " or ") + std::string(name(type));
  check.fail({"operand 'acc'", "a tile of " + sums + " for products of " + std::string(name(row->operand)),
              std::string(name(sum)), "accumulate in another type"});
}

void check_scales(OpCheck& check) {
  if (!verify_batch(check, 0, 3) || !verify_batch(check, 1, 4)) return;
  const auto& lhs = check.operand(0);
  const auto& scale = check.operand(3);
  const std::size_t batched = lhs.shape.size() - 2;
  for (const EqualExtents& pair : {EqualExtents{0, 0, 3, 0}, EqualExtents{1, 1, 4, 1}, EqualExtents{3, 1, 4, 0}}) {
    if (!verify_extents(check, pair, batched)) return;
  }
  const auto fits = [&](const Scaling& row) { return row.operand == lhs.element && row.scale == scale.element; };
  const auto* row = std::ranges::find_if(kScalings, fits);
  if (row == std::end(kScalings)) {
    check.fail({"operand 'lhs_scale'", "f8E8M0FNU for " + std::string(name(lhs.element)),
                std::string(name(scale.element)), "use f8E4M3FN scales with f4E2M1FN only"});
    return;
  }
  verify_scale_size(check, *row, lhs.shape[batched + 1], scale.shape[batched + 1]);
}

}  // namespace tilegym::tile_ir
