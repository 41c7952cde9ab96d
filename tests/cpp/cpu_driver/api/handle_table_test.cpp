#include "cpu_driver/api/handle_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace tilegym::cpu::test {
namespace {

struct Number {
  static constexpr std::uintptr_t kHandleKind = 9;
  explicit Number(int v) : value(v) {}
  int value;
};
using Handle = struct Opaque*;
using Table = HandleTable<Number, Handle>;

TEST(HandleTable, FindsWhatWasInserted) {
  Table table;
  const Handle handle = table.insert(std::make_shared<Number>(7));
  ASSERT_NE(table.find(handle), nullptr);
  EXPECT_EQ(table.find(handle)->value, 7);
  EXPECT_EQ(table.share(handle)->value, 7);
}

TEST(HandleTable, ErasedHandleFindsNothingEvenWhenItsSlotIsReused) {
  Table table;
  const Handle first = table.insert(std::make_shared<Number>(1));
  EXPECT_EQ(table.erase(first)->value, 1);
  const Handle second = table.insert(std::make_shared<Number>(2));
  EXPECT_EQ(table.find(first), nullptr);
  EXPECT_EQ(table.erase(first), nullptr);
  EXPECT_EQ(table.find(second)->value, 2);
}

TEST(HandleTable, WildValuesFindNothing) {
  Table table;
  const auto live = reinterpret_cast<std::uintptr_t>(table.insert(std::make_shared<Number>(1)));
  const std::vector<std::uintptr_t> wild{
      0,        1,          2,     live + 1,           live ^ 0x10,        live + 0x100,
      live + 8, live << 1U, ~live, ~std::uintptr_t{0}, live & 0xFFFFFFFFU, live ^ (std::uintptr_t{1} << 63U)};
  for (const std::uintptr_t value : wild) EXPECT_EQ(table.find(reinterpret_cast<Handle>(value)), nullptr) << value;
}

TEST(HandleTable, ManyObjectsKeepTheirHandles) {
  Table table;
  std::vector<Handle> handles;
  for (int i = 0; i < 1000; ++i) handles.push_back(table.insert(std::make_shared<Number>(i)));
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(table.find(handles[static_cast<std::size_t>(i)])->value, i);
}

TEST(HandleTable, EraseIfTakesTheMatching) {
  Table table;
  const Handle odd = table.insert(std::make_shared<Number>(1));
  const Handle even = table.insert(std::make_shared<Number>(2));
  EXPECT_EQ(table.erase_if([](const Number& number) { return number.value == 1; }).size(), 1U);
  EXPECT_EQ(table.find(odd), nullptr);
  EXPECT_NE(table.find(even), nullptr);
}

}  // namespace
}  // namespace tilegym::cpu::test
