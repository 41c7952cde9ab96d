#include "tile_ir/goldens.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>

#include "tile_ir/reader.h"

namespace tilegym::tile_ir::test {

namespace {

const std::filesystem::path kFolder = std::filesystem::path(TILEGYM_GOLDENS) / "tile_ir";
constexpr std::string_view kSuffix = ".tileirbc";

void visit(const Block& block, const std::function<void(const Operation&)>& visitor) {
  for (const Operation& operation : block.operations) {
    visitor(operation);
    for (const Region& region : operation.regions) {
      for (const Block& inner : region.blocks) visit(inner, visitor);
    }
  }
}

}  // namespace

std::vector<std::byte> golden(const std::string& name) {
  std::ifstream file(kFolder / (name + std::string(kSuffix)), std::ios::binary);
  EXPECT_TRUE(file.good()) << name;
  const std::vector<char> text((std::istreambuf_iterator<char>(file)), {});
  std::vector<std::byte> bytes(text.size());
  std::ranges::transform(text, bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

std::string golden_text(const std::string& name) {
  std::ifstream file(kFolder / (name + ".txt"), std::ios::binary);
  EXPECT_TRUE(file.good()) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() == kSuffix) names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  return names;
}

Module read_golden(const std::string& name) {
  Result<Module> module = read_module(golden(name));
  if (module.ok()) return std::move(module).value();
  ADD_FAILURE() << name << ": " << module.error().message;
  return {};
}

std::map<std::string_view, int> histogram(const Function& function) {
  std::map<std::string_view, int> counts;
  visit(function.body, [&](const Operation& operation) { ++counts[tile_ir::name(operation.opcode)]; });
  return counts;
}

std::vector<const Operation*> find_all(const Function& function, Opcode opcode) {
  std::vector<const Operation*> found;
  visit(function.body, [&](const Operation& operation) {
    if (operation.opcode == opcode) found.push_back(&operation);
  });
  return found;
}

}  // namespace tilegym::tile_ir::test
