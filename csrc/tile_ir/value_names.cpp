#include "tile_ir/value_names.h"

#include <algorithm>
#include <optional>

#include "tile_ir/assembly.h"
#include "tile_ir/float_text.h"

namespace tilegym::tile_ir {

namespace {

/// The one element that a constant consists of, or nothing.
std::optional<std::uint64_t> uniform_bits(const Type& tile, const Attribute& value) {
  const std::uint64_t first = element_bits(tile, value.bytes, value.splat, 0);
  if (value.splat) return first;
  const auto count = static_cast<std::size_t>(tile.element_count());
  for (std::size_t i = 1; i < count; ++i) {
    if (element_bits(tile, value.bytes, false, i) != first) return std::nullopt;
  }
  return first;
}

std::int64_t sign_extended(std::uint64_t bits, int width) {
  const int unused = 64 - width;
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

}  // namespace

ValueNames::ValueNames(const Module& module, const Function& function)
    : module_(module),
      function_(function),
      names_(function.values.size()),
      places_(function.values.size(), kAlone),
      definitions_(function.values.size()) {
  name_block(nullptr, function.body, {});
}

void ValueNames::append(std::string& out, ValueId value) const {
  out += '%';
  out += names_[value];
  if (places_[value] == kAlone) return;
  out += '#';
  out += std::to_string(places_[value]);
}

void ValueNames::append_results(std::string& out, const Operation& operation) const {
  const bool grouped = operation.results.size() > 1 && places_[operation.results[0]] != kAlone;
  const std::size_t groups = grouped ? 1 : operation.results.size();
  for (std::size_t i = 0; i < groups; ++i) {
    out += i == 0 ? "%" : ", %";
    out += names_[operation.results[i]];
  }
  if (!grouped) return;
  out += ':';
  out += std::to_string(operation.results.size());
}

void ValueNames::name_block(const Operation* parent, const Block& block, Counters counters) {
  const std::size_t outer = taken_.size();
  name_arguments(parent, block, counters);
  for (const Operation& operation : block.operations) name_results(operation, counters);
  for (const Operation& operation : block.operations) {
    for (const Region& region : operation.regions) {
      for (const Block& inner : region.blocks) name_block(&operation, inner, counters);
    }
  }
  for (std::size_t i = outer; i < taken_.size(); ++i) *taken_[i] = false;
  taken_.resize(outer);
}

void ValueNames::name_arguments(const Operation* parent, const Block& block, Counters& counters) {
  const std::size_t count = block.arguments.size();
  for (std::size_t i = 0; i < count; ++i) {
    std::string name;
    if (parent != nullptr && parent->opcode == Opcode::For) {
      name = i == 0 ? "loopIdx" : "iterArg" + std::to_string(i - 1);
    } else if (parent != nullptr && parent->opcode == Opcode::Reduce) {
      name = i % 2 == 0 ? "reduce_lhs" : "reduce_rhs";
      if (count > 2) name += std::to_string(i / 2);
    } else {
      name = "arg" + std::to_string(counters.argument++);
    }
    set(block.arguments[i], name, counters);
  }
}

void ValueNames::name_results(const Operation& operation, Counters& counters) {
  const std::vector<ValueId>& results = operation.results;
  if (results.empty()) return;
  const bool one_each = results.size() > 1 && assembly(operation.opcode).result_names.size() == results.size();
  for (std::size_t i = 0; i < results.size(); ++i) {
    definitions_[results[i]] = {&operation, i};
    if (i == 0 || one_each) {
      set(results[i], hint(operation, i), counters);
    } else {
      names_[results[i]] = names_[results[0]];
    }
    if (results.size() > 1 && !one_each) places_[results[i]] = static_cast<std::int32_t>(i);
  }
}

std::string ValueNames::hint(const Operation& operation, std::size_t index) const {
  if (operation.opcode == Opcode::Constant) return constant_hint(operation);
  if (operation.opcode == Opcode::Assume) return assume_hint(operation);
  const auto& names = assembly(operation.opcode).result_names;
  return index < names.size() ? std::string(names[index]) : std::string();
}

std::string ValueNames::constant_hint(const Operation& operation) const {
  const Attribute* value = operation.find(AttrName::value);
  if (value == nullptr || value->kind != AttrKind::dense) return {};
  const Type& tile = module_.type(value->type);
  const std::optional<std::uint64_t> bits = uniform_bits(tile, *value);
  if (tile.element == ElementType::i1) return !bits ? "cst_i1" : *bits != 0 ? "true" : "false";
  std::string text = "cst_";
  if (bits && !is_float(tile.element)) {
    text += std::to_string(sign_extended(*bits, bit_width(tile.element))) + "_";
  } else if (bits && is_nan(tile.element, *bits)) {
    text += "NaN_";
  } else if (const auto exact = bits ? exact_unsigned(tile.element, *bits) : std::nullopt; exact) {
    text += std::to_string(*exact) + "_";
  }
  return text += name(tile.element);
}

std::string ValueNames::assume_hint(const Operation& operation) const {
  // A chain of assumptions repeats the word; the limit keeps hostile input from filling the memory with it.
  constexpr std::size_t kMostRepeats = 512;
  std::string prefix;
  const Operation* current = &operation;
  for (std::size_t repeats = 0;; ++repeats) {
    if (current->operands.empty() || repeats == kMostRepeats) return prefix + "assume";
    const Definition& producer = definitions_[current->operands[0]];
    if (producer.operation == nullptr || !assembly(producer.operation->opcode).names_results) return prefix + "assume";
    prefix += "assume_";
    if (producer.operation->opcode != Opcode::Assume) return prefix + hint(*producer.operation, producer.result);
    current = producer.operation;
  }
}

void ValueNames::set(ValueId value, std::string_view hint, Counters& counters) {
  if (hint.empty()) return number(value, counters);
  std::string& name = names_[value];
  name = hint;
  if (take(hint)) return;
  name += '_';
  name += std::to_string(counters.conflict++);
}

void ValueNames::number(ValueId value, Counters& counters) {
  names_[value] = std::to_string(counters.value++);
}

bool ValueNames::take(std::string_view hint) {
  auto found = used_.find(hint);
  if (found == used_.end()) found = used_.emplace(hint, false).first;
  if (found->second) return false;
  found->second = true;
  taken_.push_back(&found->second);
  return true;
}

}  // namespace tilegym::tile_ir
