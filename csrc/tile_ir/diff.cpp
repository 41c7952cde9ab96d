#include "tile_ir/diff.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "tile_ir/alignment.h"
#include "tile_ir/describe.h"
#include "tile_ir/op_table.h"
#include "tile_ir/text.h"

namespace tilegym::tile_ir {

namespace {

/// Numbers that are equal where texts are.
class Numbering {
 public:
  std::uint32_t operator()(const std::string& text) {
    return known_.try_emplace(text, static_cast<std::uint32_t>(known_.size())).first->second;
  }

 private:
  std::unordered_map<std::string, std::uint32_t> known_;
};

std::string value_text(const Module& module, const Attribute& value, AttrName name) {
  std::string text;
  append_attribute(text, module, name, value);
  return text;
}

/// One of the two modules with what is known about its values.
struct Side {
  const Module& module;
  const Function& function;
  /// Who defines each value: an operation, or null for an argument.
  std::vector<const Operation*> producers;

  Side(const Module& of, const Function& entry) : module(of), function(entry), producers(entry.values.size(), nullptr) {
    note(entry.body);
  }

  void note(const Block& block) {
    for (const Operation& operation : block.operations) {
      for (const ValueId result : operation.results) producers[result] = &operation;
      for (const Region& region : operation.regions) {
        for (const Block& inner : region.blocks) note(inner);
      }
    }
  }

  std::string describe(ValueId value) const {
    if (const Operation* producer = producers[value]; producer != nullptr) {
      const std::string text = "result of " + std::string(name(producer->opcode));
      const Attribute* constant = producer->opcode == Opcode::Constant ? producer->find(AttrName::value) : nullptr;
      return constant == nullptr ? text : "constant " + value_text(module, *constant, AttrName::value);
    }
    return "argument of type " + type_text(module, function.values[value]);
  }
};

class FunctionDiff {
 public:
  FunctionDiff(const Module& before, const Function& first, const Module& after, const Function& second,
               std::vector<Change>& out)
      : before_(before, first), after_(after, second), partner_(first.values.size(), kNone), out_(out) {}

  void run() {
    compare_entry();
    compare_blocks(before_.function.body, after_.function.body, before_.function.name);
  }

 private:
  static constexpr ValueId kNone = ~ValueId{0};

  void compare_entry() {
    const Function& first = before_.function;
    const Function& second = after_.function;
    changed(first.name, "entry", "name", first.name, second.name);
    const auto hints = [](const Side& side) {
      const auto& value = side.function.optimization_hints;
      return value ? value_text(side.module, *value, AttrName::optimization_hints) : std::string("none");
    };
    changed(first.name, "entry", "optimization_hints", hints(before_), hints(after_));
    const auto bytes = [](const Function& function) {
      return function.unread ? std::string(reinterpret_cast<const char*>(function.unread->bytes.data()),
                                           function.unread->bytes.size())
                             : std::string();
    };
    if (bytes(first) != bytes(second)) {
      const auto size = [](const Function& f) {
        return std::to_string(f.unread ? f.unread->bytes.size() : 0) + " bytes";
      };
      add({ChangeKind::changed, first.name, "entry", "bytes behind an unknown operation", size(first), size(second)});
    }
  }

  void changed(const std::string& place, std::string_view subject, std::string_view property, std::string before,
               std::string after) {
    if (before == after) return;
    add({ChangeKind::changed, place, std::string(subject), std::string(property), std::move(before), std::move(after)});
  }

  void add(Change change) { out_.push_back(std::move(change)); }

  std::vector<AlignmentKey> keys(const Side& side, const Block& block) {
    std::vector<AlignmentKey> found;
    for (const Operation& operation : block.operations) {
      const std::string mnemonic(name(operation.opcode));
      std::string whole = mnemonic;
      for (const auto& [property, value] : properties(side.module, side.function, operation)) {
        whole += '\n' + property + '=' + value;
      }
      found.push_back({numbering_(mnemonic), numbering_(whole)});
    }
    return found;
  }

  void compare_blocks(const Block& first, const Block& second, const std::string& place) {
    compare_arguments(first, second, place);
    const auto pairs = align(keys(before_, first), keys(after_, second));
    const std::vector<std::string> places_before = places(first, place);
    const std::vector<std::string> places_after = places(second, place);
    std::size_t i = 0;
    std::size_t j = 0;
    const auto lone = [&](std::size_t end_before, std::size_t end_after) {
      for (; i < end_before; ++i) whole(ChangeKind::removed, before_, first.operations[i], places_before[i]);
      for (; j < end_after; ++j) whole(ChangeKind::added, after_, second.operations[j], places_after[j]);
    };
    for (const auto& [left, right] : pairs) {
      lone(left, right);
      compare_operations(first.operations[i++], second.operations[j++], places_before[left]);
    }
    lone(first.operations.size(), second.operations.size());
  }

  void compare_arguments(const Block& first, const Block& second, const std::string& place) {
    const std::size_t common = std::min(first.arguments.size(), second.arguments.size());
    for (std::size_t i = 0; i < common; ++i) {
      partner_[first.arguments[i]] = second.arguments[i];
      changed(place, "block", "argument " + std::to_string(i),
              type_text(before_.module, before_.function.values[first.arguments[i]]),
              type_text(after_.module, after_.function.values[second.arguments[i]]));
    }
    changed(place, "block", "number of arguments", std::to_string(first.arguments.size()),
            std::to_string(second.arguments.size()));
  }

  /// The way to each operation of a block.
  static std::vector<std::string> places(const Block& block, const std::string& outer) {
    std::map<Opcode, int> counts;
    std::vector<std::string> found;
    for (const Operation& operation : block.operations) {
      found.push_back(outer + " / " + std::string(name(operation.opcode)) + " #" +
                      std::to_string(counts[operation.opcode]++));
    }
    return found;
  }

  void whole(ChangeKind kind, const Side& side, const Operation& operation, const std::string& place) {
    std::string text;
    for (const auto& [property, value] : properties(side.module, side.function, operation)) {
      text += (text.empty() ? "" : ", ") + property + " = " + value;
    }
    const bool added = kind == ChangeKind::added;
    add({kind, place, std::string(name(operation.opcode)), "", added ? "" : text, added ? text : ""});
  }

  void compare_operations(const Operation& first, const Operation& second, const std::string& place) {
    compare_properties(first, second, place);
    compare_operands(first, second, place);
    const std::size_t results = std::min(first.results.size(), second.results.size());
    for (std::size_t i = 0; i < results; ++i) partner_[first.results[i]] = second.results[i];
    const std::size_t regions = std::max(first.regions.size(), second.regions.size());
    for (std::size_t i = 0; i < regions; ++i) compare_regions(first, second, i, place);
  }

  void compare_regions(const Operation& first, const Operation& second, std::size_t index, const std::string& place) {
    static const Block kEmpty;
    const auto block = [index](const Operation& operation) -> const Block& {
      const bool there = index < operation.regions.size() && !operation.regions[index].blocks.empty();
      return there ? operation.regions[index].blocks.front() : kEmpty;
    };
    compare_blocks(block(first), block(second), index == 0 ? place : place + " else");
  }

  void compare_properties(const Operation& first, const Operation& second, const std::string& place) {
    const std::vector<Property> left = properties(before_.module, before_.function, first);
    const std::vector<Property> right = properties(after_.module, after_.function, second);
    if (left == right) return;
    const std::string_view subject = name(first.opcode);
    for (const std::string& property : names_of(left, right)) {
      changed(place, subject, property, joined(left, property), joined(right, property));
    }
  }

  static std::vector<std::string> names_of(const std::vector<Property>& left, const std::vector<Property>& right) {
    std::vector<std::string> names;
    for (const auto* list : {&left, &right}) {
      for (const Property& property : *list) {
        if (std::ranges::find(names, property.first) == names.end()) names.push_back(property.first);
      }
    }
    return names;
  }

  static std::string joined(const std::vector<Property>& list, const std::string& property) {
    std::string text;
    for (const auto& [key, value] : list) {
      if (key == property) text += (text.empty() ? "" : ", ") + value;
    }
    return text.empty() ? "none" : text;
  }

  void compare_operands(const Operation& first, const Operation& second, const std::string& place) {
    const OpSpec* spec = find_op(static_cast<std::uint64_t>(first.opcode));
    if (spec == nullptr) return;
    for (std::size_t i = 0; i < spec->operands.size(); ++i) {
      const std::span<const ValueId> left = first.group(i);
      const std::span<const ValueId> right = second.group(i);
      const std::string property = "operand " + std::string(spec->operands[i].name);
      if (left.size() != right.size()) {
        changed(place, spec->mnemonic, property, std::to_string(left.size()) + " values",
                std::to_string(right.size()) + " values");
        continue;
      }
      for (std::size_t k = 0; k < left.size(); ++k) {
        if (partner_[left[k]] != right[k]) other_operand(place, *spec, property, left[k], right[k]);
      }
    }
  }

  void other_operand(const std::string& place, const OpSpec& spec, const std::string& property, ValueId left,
                     ValueId right) {
    std::string before = before_.describe(left);
    std::string after = after_.describe(right);
    if (before == after) after += " (another one)";
    changed(place, spec.mnemonic, property, std::move(before), std::move(after));
  }

  Side before_;
  Side after_;
  Numbering numbering_;
  /// Value of the other side that corresponds, or kNone.
  std::vector<ValueId> partner_;
  std::vector<Change>& out_;
};

std::string version_text(const Version& version) {
  return std::to_string(version.major) + "." + std::to_string(version.minor);
}

std::string global_text(const Module& module, const Global& global) {
  std::string text = (global.is_private ? "private " : "") + std::string(global.constant ? "constant " : "") +
                     "alignment " + std::to_string(global.alignment) + " ";
  append_dense(text, module.type(global.type), global.bytes, global.splat);
  return text + " : " + type_text(module, global.type);
}

void diff_globals(const Module& before, const Module& after, std::vector<Change>& out) {
  const auto find = [](const Module& module, const std::string& name) -> const Global* {
    const auto found = std::ranges::find(module.globals, name, &Global::name);
    return found == module.globals.end() ? nullptr : &*found;
  };
  for (const Global& global : before.globals) {
    const Global* other = find(after, global.name);
    const std::string text = global_text(before, global);
    if (other == nullptr) {
      out.push_back({ChangeKind::removed, global.name, "global", "", text, ""});
    } else if (const std::string now = global_text(after, *other); now != text) {
      out.push_back({ChangeKind::changed, global.name, "global", "value", text, now});
    }
  }
  for (const Global& global : after.globals) {
    if (find(before, global.name) == nullptr) {
      out.push_back({ChangeKind::added, global.name, "global", "", "", global_text(after, global)});
    }
  }
}

void diff_functions(const Module& before, const Module& after, std::vector<Change>& out) {
  // Compilers mangle names: where each module has one entry, these are compared whatever they are called.
  if (before.functions.size() == 1 && after.functions.size() == 1) {
    return FunctionDiff(before, before.functions[0], after, after.functions[0], out).run();
  }
  for (const Function& function : before.functions) {
    if (const Function* other = after.find(function.name); other != nullptr) {
      FunctionDiff(before, function, after, *other, out).run();
    } else {
      out.push_back({ChangeKind::removed, function.name, "entry", "", function.name, ""});
    }
  }
  for (const Function& function : after.functions) {
    if (before.find(function.name) == nullptr) {
      out.push_back({ChangeKind::added, function.name, "entry", "", "", function.name});
    }
  }
}

}  // namespace

std::vector<Change> diff_modules(const Module& before, const Module& after) {
  std::vector<Change> changes;
  if (before.version != after.version) {
    changes.push_back({ChangeKind::changed, "module", "module", "version", version_text(before.version),
                       version_text(after.version)});
  }
  if (before.producer != after.producer) {
    changes.push_back({ChangeKind::changed, "module", "module", "producer", before.producer, after.producer});
  }
  diff_globals(before, after, changes);
  diff_functions(before, after, changes);
  return changes;
}

}  // namespace tilegym::tile_ir
