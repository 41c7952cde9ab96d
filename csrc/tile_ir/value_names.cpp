#include "tile_ir/value_names.h"

#include <algorithm>
#include <optional>

#include "tile_ir/assembly.h"
#include "tile_ir/float_text.h"
#include "tile_ir/text.h"

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
    : module_(module), names_(function.values.size()), definitions_(function.values.size()) {
  name_block(nullptr, function.body, {});
}

void ValueNames::append(std::string& out, ValueId value) const {
  const Name& name = names_[value];
  out += '%';
  append_name(out, name);
  if (name.place == kNone) return;
  out += '#';
  append_number(out, name.place);
}

void ValueNames::append_name(std::string& out, const Name& name) const {
  out += name.hint;
  if (name.number == kNone) return;
  if (!name.hint.empty()) out += '_';
  append_number(out, name.number);
}

void ValueNames::append_results(std::string& out, const Operation& operation) const {
  const bool grouped = operation.results.size() > 1 && names_[operation.results[0]].place != kNone;
  const std::size_t groups = grouped ? 1 : operation.results.size();
  for (std::size_t i = 0; i < groups; ++i) {
    out += i == 0 ? "%" : ", %";
    append_name(out, names_[operation.results[i]]);
  }
  if (!grouped) return;
  out += ':';
  append_number(out, operation.results.size());
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
    if (parent != nullptr && parent->opcode == Opcode::For) {
      name_ = i == 0 ? "loopIdx" : "iterArg";
      if (i > 0) append_number(name_, i - 1);
    } else if (parent != nullptr && parent->opcode == Opcode::Reduce) {
      name_ = i % 2 == 0 ? "reduce_lhs" : "reduce_rhs";
      if (count > 2) append_number(name_, i / 2);
    } else {
      name_ = "arg";
      append_number(name_, counters.argument++);
    }
    set(block.arguments[i], counters);
  }
}

void ValueNames::name_results(const Operation& operation, Counters& counters) {
  const std::size_t count = operation.results.size();
  const bool one_each = count > 1 && assembly(operation.opcode).result_names.size() == count;
  for (std::size_t i = 0; i < count; ++i) {
    const ValueId value = operation.results[i];
    definitions_[value] = {&operation, i};
    if (i == 0 || one_each) {
      hint(operation, i);
      set(value, counters);
    } else {
      names_[value] = names_[operation.results[0]];
    }
    if (count > 1 && !one_each) names_[value].place = static_cast<std::uint32_t>(i);
  }
}

void ValueNames::hint(const Operation& operation, std::size_t index) {
  if (operation.opcode == Opcode::Constant) return constant_hint(operation);
  if (operation.opcode == Opcode::Assume) return assume_hint(operation);
  const auto& names = assembly(operation.opcode).result_names;
  name_ = index < names.size() ? names[index] : std::string_view();
}

void ValueNames::constant_hint(const Operation& operation) {
  name_.clear();
  const Attribute* value = operation.find(AttrName::value);
  if (value == nullptr || value->kind != AttrKind::dense) return;
  const Type& tile = module_.type(value->type);
  const std::optional<std::uint64_t> bits = uniform_bits(tile, *value);
  if (tile.element == ElementType::i1) {
    name_ = !bits ? "cst_i1" : *bits != 0 ? "true" : "false";
    return;
  }
  name_ = "cst_";
  if (bits && !is_float(tile.element)) {
    append_number(name_, sign_extended(*bits, bit_width(tile.element)));
    name_ += '_';
  } else if (bits && is_nan(tile.element, *bits)) {
    name_ += "NaN_";
  } else if (const auto exact = bits ? exact_unsigned(tile.element, *bits) : std::nullopt; exact) {
    append_number(name_, *exact);
    name_ += '_';
  }
  name_ += name(tile.element);
}

void ValueNames::assume_hint(const Operation& operation) {
  // A chain of assumptions repeats the word; the limit keeps hostile input from filling the memory with it.
  constexpr std::size_t kMostRepeats = 512;
  const Operation* current = &operation;
  for (std::size_t repeats = 0;; ++repeats) {
    const auto* producer =
        current->operands.empty() || repeats == kMostRepeats ? nullptr : &definitions_[current->operands[0]];
    const bool ends =
        producer == nullptr || producer->operation == nullptr || !assembly(producer->operation->opcode).names_results;
    if (ends) {
      name_ = "assume";
    } else if (producer->operation->opcode != Opcode::Assume) {
      hint(*producer->operation, producer->result);
      ++repeats;
    } else {
      current = producer->operation;
      continue;
    }
    for (; repeats > 0; --repeats) name_.insert(0, "assume_");
    return;
  }
}

void ValueNames::set(ValueId value, Counters& counters) {
  Name& name = names_[value];
  if (name_.empty()) {
    name.number = counters.value++;
    return;
  }
  auto found = used_.find(name_);
  if (found == used_.end()) found = used_.emplace(name_, false).first;
  name.hint = found->first;
  if (found->second) {
    name.number = counters.conflict++;
    return;
  }
  found->second = true;
  taken_.push_back(&found->second);
}

}  // namespace tilegym::tile_ir
