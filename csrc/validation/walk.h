#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "validation/compare.h"

namespace tilegym::validation {

/// The order in which two arrays of one shape are read: the dimension with the smallest strides runs fastest, and
/// dimensions that follow each other without a gap in both arrays are one.
class Walk {
 public:
  Walk(const ArrayView& actual, const ArrayView& expected);

  [[nodiscard]] std::int64_t size() const noexcept { return size_; }

  /// Position in row-major order of the element at a position of this walk.
  [[nodiscard]] std::int64_t row_major(std::int64_t position) const noexcept;
  /// Whether row_major(position) is position.
  [[nodiscard]] bool is_row_major() const noexcept { return in_order_; }

  /// The dimensions, outermost first; there is at least one.
  [[nodiscard]] const std::vector<std::int64_t>& extents() const noexcept { return extents_; }
  /// Distances of neighbours in row-major order.
  [[nodiscard]] const std::vector<std::int64_t>& steps() const noexcept { return steps_; }

  /// One of the arrays along this walk.
  class Side {
   public:
    [[nodiscard]] ElementType type() const noexcept { return type_; }
    [[nodiscard]] const std::vector<std::int64_t>& strides() const noexcept { return strides_; }  ///< bytes
    /// Where `count` elements from `position` on lie side by side, or null.
    [[nodiscard]] const std::byte* packed(std::int64_t position, std::size_t count) const noexcept;
    /// Reads `count` elements from `position` on. Value is double, or int64 for integers.
    template <class Value>
    void read(std::int64_t position, std::size_t count, Value* out) const noexcept;

   private:
    friend class Walk;
    [[nodiscard]] const std::byte* address(std::int64_t position) const noexcept;

    ElementType type_{};
    const std::byte* data_ = nullptr;
    const std::vector<std::int64_t>* extents_ = nullptr;
    std::vector<std::int64_t> strides_;
  };
  [[nodiscard]] const Side& actual() const noexcept { return actual_; }
  [[nodiscard]] const Side& expected() const noexcept { return expected_; }

  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;

 private:
  struct Dimension {
    std::int64_t extent;
    std::int64_t actual;    ///< stride in elements
    std::int64_t expected;  ///< stride in elements
    std::int64_t step;      ///< distance of neighbours in row-major order
  };
  void keep(const std::vector<Dimension>& dimensions);

  std::vector<std::int64_t> extents_;
  std::vector<std::int64_t> steps_;
  Side actual_;
  Side expected_;
  std::int64_t size_ = 1;
  bool in_order_ = true;
};

}  // namespace tilegym::validation
