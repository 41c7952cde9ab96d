#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/check.h"

namespace tilegym::tile_ir {

/// A vector of at most 2^32 - 1 plain values that keeps up to `room` of them in itself: a module has hundreds of
/// thousands of lists with one or two entries, and a block of memory for each would cost more than all the rest.
template <class T, std::size_t room>
class ShortList {
  static_assert(std::is_trivially_copyable_v<T> && room > 0);

 public:
  using value_type = T;
  using size_type = std::size_t;
  using difference_type = std::ptrdiff_t;
  using reference = T&;
  using const_reference = const T&;
  using iterator = T*;
  using const_iterator = const T*;

  ShortList() noexcept : place_() {}
  ShortList(std::initializer_list<T> values) : ShortList(std::span<const T>(values.begin(), values.size())) {}
  ShortList(std::span<const T> values) : place_() { append(values); }  // NOLINT(google-explicit-constructor)
  ShortList(const std::vector<T>& values)
      : ShortList(std::span<const T>(values)) {}  // NOLINT(google-explicit-constructor)
  ShortList(const ShortList& other) : ShortList(std::span<const T>(other)) {}
  ShortList(ShortList&& other) noexcept : place_() { take(other); }
  ShortList& operator=(const ShortList& other) {
    if (this != &other) *this = ShortList(other);
    return *this;
  }
  ShortList& operator=(ShortList&& other) noexcept {
    if (this == &other) return *this;
    release();
    take(other);
    return *this;
  }
  ~ShortList() { release(); }

  operator std::vector<T>() const { return {begin(), end()}; }  // NOLINT(google-explicit-constructor)

  [[nodiscard]] T* data() noexcept { return is_short() ? place_.data() : heap_; }
  [[nodiscard]] const T* data() const noexcept { return is_short() ? place_.data() : heap_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] T* begin() noexcept { return data(); }
  [[nodiscard]] T* end() noexcept { return data() + size_; }
  [[nodiscard]] const T* begin() const noexcept { return data(); }
  [[nodiscard]] const T* end() const noexcept { return data() + size_; }
  [[nodiscard]] T& operator[](std::size_t index) noexcept { return data()[index]; }
  [[nodiscard]] const T& operator[](std::size_t index) const noexcept { return data()[index]; }
  [[nodiscard]] const T& at(std::size_t index) const {
    TILEGYM_CHECK(index < size_);
    return data()[index];
  }
  [[nodiscard]] T& front() noexcept { return data()[0]; }
  [[nodiscard]] const T& front() const noexcept { return data()[0]; }
  [[nodiscard]] T& back() noexcept { return data()[size_ - 1]; }
  [[nodiscard]] const T& back() const noexcept { return data()[size_ - 1]; }

  void reserve(std::size_t wanted) {
    if (wanted > capacity_) grow(wanted);
  }
  void push_back(T value) {
    reserve(std::size_t{size_} + 1);
    data()[size_++] = value;
  }
  void pop_back() noexcept { --size_; }
  void clear() noexcept { size_ = 0; }
  void resize(std::size_t size, T value = T()) {
    reserve(size);
    if (size > size_) std::fill_n(data() + size_, size - size_, value);
    size_ = static_cast<std::uint32_t>(size);
  }
  void assign(std::size_t size, T value) {
    clear();
    resize(size, value);
  }
  /// The range must not lie in this list.
  template <std::forward_iterator Iterator>
  T* insert(const T* place, Iterator first, Iterator last) {
    const std::ptrdiff_t at = place - begin();
    const std::size_t before = size_;
    for (; first != last; ++first) push_back(*first);
    std::rotate(begin() + at, begin() + before, end());
    return begin() + at;
  }
  T* erase(const T* place) noexcept {
    T* const at = begin() + (place - begin());
    std::move(at + 1, end(), at);
    --size_;
    return at;
  }

  friend bool operator==(const ShortList& left, const ShortList& right) noexcept {
    return std::ranges::equal(left, right);
  }
  friend bool operator==(const ShortList& left, const std::vector<T>& right) noexcept {
    return std::ranges::equal(left, right);
  }

 private:
  [[nodiscard]] bool is_short() const noexcept { return capacity_ == room; }

  void append(std::span<const T> values) {
    reserve(size_ + values.size());
    std::ranges::copy(values, end());
    size_ += static_cast<std::uint32_t>(values.size());
  }
  void grow(std::size_t wanted) {
    const std::size_t capacity = std::max<std::size_t>(wanted, std::size_t{capacity_} * 2);
    TILEGYM_CHECK(capacity <= UINT32_MAX);
    T* const fresh = std::allocator<T>().allocate(capacity);
    std::copy(begin(), end(), fresh);
    release();
    heap_ = fresh;
    capacity_ = static_cast<std::uint32_t>(capacity);
  }
  void release() noexcept {
    if (!is_short()) std::allocator<T>().deallocate(heap_, capacity_);
  }
  /// Leaves `other` empty. Precondition: this list owns no memory.
  void take(ShortList& other) noexcept {
    if (other.is_short()) {
      place_ = other.place_;
    } else {
      heap_ = other.heap_;
    }
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, static_cast<std::uint32_t>(room));
  }

  union {
    std::array<T, room> place_;
    T* heap_;
  };
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = room;
};

}  // namespace tilegym::tile_ir
