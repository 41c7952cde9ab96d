#include "tile_ir/module.h"

#include <algorithm>

#include "common/check.h"

namespace tilegym::tile_ir {

std::span<const ValueId> Operation::group(std::size_t index) const noexcept {
  TILEGYM_CHECK(index < segments.size());
  std::size_t begin = 0;
  for (std::size_t i = 0; i < index; ++i) begin += segments[i];
  return std::span(operands).subspan(begin, segments[index]);
}

std::optional<ValueId> Operation::optional(std::size_t index) const noexcept {
  const std::span<const ValueId> values = group(index);
  return values.empty() ? std::nullopt : std::optional(values.front());
}

const Attribute* Operation::find(AttrName name) const noexcept {
  const auto found = std::ranges::find(attributes, name, &NamedAttribute::name);
  return found == attributes.end() ? nullptr : &found->value;
}

std::uint64_t Operation::integer(AttrName name, std::uint64_t fallback) const noexcept {
  const Attribute* attribute = find(name);
  return attribute == nullptr ? fallback : attribute->integer;
}

const Block& Operation::body(std::size_t index) const noexcept {
  TILEGYM_CHECK(index < regions.size() && !regions[index].blocks.empty());
  return regions[index].blocks.front();
}

const Function* Module::find(std::string_view name) const noexcept {
  const auto found = std::ranges::find(functions, name, &Function::name);
  return found == functions.end() ? nullptr : &*found;
}

}  // namespace tilegym::tile_ir
