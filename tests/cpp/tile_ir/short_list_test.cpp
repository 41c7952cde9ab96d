#include "tile_ir/short_list.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace tilegym::tile_ir {

namespace {

using List = ShortList<std::uint32_t, 2>;
using Vector = std::vector<std::uint32_t>;

/// One change of a list and of the vector that it has to stay equal to.
void change(List& list, Vector& vector, std::minstd_rand& random) {
  const auto value = static_cast<std::uint32_t>(random());
  switch (random() % 7) {
    case 0:
      list.resize(value % 6, 7);
      vector.resize(value % 6, 7);
      break;
    case 1: {
      const Vector more(value % 4, value);
      const std::size_t at = value % (vector.size() + 1);
      list.insert(list.begin() + at, more.begin(), more.end());
      vector.insert(vector.begin() + static_cast<std::ptrdiff_t>(at), more.begin(), more.end());
      break;
    }
    case 2:
      if (vector.empty()) break;
      list.erase(list.begin() + value % vector.size());
      vector.erase(vector.begin() + value % vector.size());
      break;
    case 3:
      list = List(list);
      break;
    case 4:
      list = List(std::exchange(list, List()));
      break;
    case 5:
      list.assign(value % 4, value);
      vector.assign(value % 4, value);
      break;
    default:
      list.push_back(value);
      vector.push_back(value);
  }
}

TEST(ShortList, StaysEqualToAVector) {
  std::minstd_rand random(1);
  List list;
  Vector vector;
  for (int step = 0; step < 2000; ++step) {
    change(list, vector, random);
    ASSERT_EQ(list, vector) << step;
    ASSERT_EQ(Vector(list), vector) << step;
  }
}

TEST(ShortList, AMovedListIsEmptyAndCanBeUsedAgain) {
  for (const std::uint32_t size : {2u, 3u}) {
    List from;
    for (std::uint32_t i = 0; i < size; ++i) from.push_back(i);
    const List to = std::move(from);
    EXPECT_EQ(to.size(), size);
    EXPECT_TRUE(from.empty());  // NOLINT(bugprone-use-after-move)
    from.push_back(5);
    EXPECT_EQ(from, Vector({5}));
  }
}

}  // namespace

}  // namespace tilegym::tile_ir
