#include "validation/walk.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace tilegym::validation {

Walk::Walk(const ArrayView& actual, const ArrayView& expected) {
  std::vector<Dimension> dimensions;
  for (std::size_t dim = actual.shape.size(); dim-- > 0;) {
    const std::int64_t extent = actual.shape[dim];
    if (extent != 1) dimensions.push_back({extent, actual.strides[dim], expected.strides[dim], size_});
    size_ *= extent;
  }
  std::ranges::reverse(dimensions);
  std::ranges::stable_sort(dimensions, [](const Dimension& left, const Dimension& right) {
    const auto reach = [](const Dimension& d) { return std::abs(d.actual) + std::abs(d.expected); };
    return reach(left) > reach(right);
  });
  actual_ = {};
  actual_.type_ = actual.type;
  actual_.data_ = actual.data;
  expected_.type_ = expected.type;
  expected_.data_ = expected.data;
  keep(dimensions);
}

void Walk::keep(const std::vector<Dimension>& dimensions) {
  std::vector<Dimension> joined;
  for (const Dimension& next : dimensions) {
    const auto follows = [&next](std::int64_t outer, std::int64_t inner) { return outer == inner * next.extent; };
    if (!joined.empty() && follows(joined.back().actual, next.actual) &&
        follows(joined.back().expected, next.expected) && follows(joined.back().step, next.step)) {
      joined.back() = {joined.back().extent * next.extent, next.actual, next.expected, next.step};
    } else {
      joined.push_back(next);
    }
  }
  if (joined.empty()) joined.push_back({1, 1, 1, 1});
  std::int64_t step = 1;
  for (std::size_t dim = joined.size(); dim-- > 0;) {
    in_order_ = in_order_ && joined[dim].step == step;
    step *= joined[dim].extent;
  }
  for (const Dimension& dimension : joined) {
    extents_.push_back(dimension.extent);
    steps_.push_back(dimension.step);
    actual_.strides_.push_back(dimension.actual * static_cast<std::int64_t>(size_of(actual_.type_)));
    expected_.strides_.push_back(dimension.expected * static_cast<std::int64_t>(size_of(expected_.type_)));
  }
  actual_.extents_ = &extents_;
  expected_.extents_ = &extents_;
}

std::int64_t Walk::row_major(std::int64_t position) const noexcept {
  if (in_order_) return position;
  std::int64_t result = 0;
  for (std::size_t dim = extents_.size(); dim-- > 0; position /= extents_[dim]) {
    result += position % extents_[dim] * steps_[dim];
  }
  return result;
}

const std::byte* Walk::Side::address(std::int64_t position) const noexcept {
  std::int64_t offset = 0;
  for (std::size_t dim = extents_->size(); dim-- > 0; position /= (*extents_)[dim]) {
    offset += position % (*extents_)[dim] * strides_[dim];
  }
  return data_ + offset;
}

const std::byte* Walk::Side::packed(std::int64_t position, std::size_t count) const noexcept {
  const std::int64_t extent = extents_->back();
  if (strides_.back() != static_cast<std::int64_t>(size_of(type_))) return nullptr;
  if (position % extent + static_cast<std::int64_t>(count) > extent) return nullptr;
  return address(position);
}

template <class Value>
void Walk::Side::read(std::int64_t position, std::size_t count, Value* out) const noexcept {
  const std::int64_t extent = extents_->back();
  const std::int64_t stride = strides_.back() / static_cast<std::int64_t>(size_of(type_));
  while (count > 0) {
    const std::size_t run = std::min(count, static_cast<std::size_t>(extent - position % extent));
    load(type_, address(position), stride, run, out);
    position += static_cast<std::int64_t>(run);
    out += run;
    count -= run;
  }
}

template void Walk::Side::read(std::int64_t, std::size_t, double*) const noexcept;
template void Walk::Side::read(std::int64_t, std::size_t, std::int64_t*) const noexcept;

}  // namespace tilegym::validation
