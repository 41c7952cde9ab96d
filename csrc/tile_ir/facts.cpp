#include "tile_ir/facts.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "tile_ir/assembly.h"
#include "tile_ir/describe.h"
#include "tile_ir/text.h"

namespace tilegym::tile_ir {

namespace {

std::string attribute_text(const Module& module, AttrName name, const Attribute& value) {
  std::string text;
  append_attribute(text, module, name, value);
  return text;
}

std::vector<const Attribute*> by_key(const Attribute& dictionary) {
  std::vector<const Attribute*> children;
  for (const Attribute& child : dictionary.children) children.push_back(&child);
  std::ranges::sort(children, {}, &Attribute::key);
  return children;
}

class Gatherer {
 public:
  Gatherer(const Module& module, const Function& function, Facts& facts)
      : module_(module), function_(function), facts_(facts), from_block_id_(function.values.size(), false) {}

  void gather() {
    facts_.entries.push_back(function_.name);
    for (const TypeId type : function_.values) gather_type(module_.type(type));
    if (function_.optimization_hints) gather_entry_hints(*function_.optimization_hints);
    gather(function_.body);
  }

 private:
  void gather_type(const Type& type) {
    if (type.kind == TypeKind::token || type.kind == TypeKind::function) return;
    facts_.elements.insert(std::string(name(type.element)));
    if (!type.is_tile() || type.of_pointers || type.shape.size() != 1) return;
    std::string text;
    append_type(text, module_, type);
    facts_.row_tiles.insert(text);
  }

  void gather_entry_hints(const Attribute& hints) {
    for (const Attribute* target : by_key(hints)) {
      for (const Attribute* hint : by_key(*target)) {
        facts_.entry_hints.try_emplace(std::string(hint->key), static_cast<std::int64_t>(hint->integer));
      }
    }
  }

  void gather(const Block& block) {
    for (const Operation& operation : block.operations) {
      if (operation.opcode == kUnreadOpcode) continue;
      gather(operation);
      for (const Region& region : operation.regions) {
        for (const Block& inner : region.blocks) gather(inner);
      }
    }
  }

  void gather(const Operation& operation) {
    const std::string mnemonic(name(operation.opcode));
    ++facts_.operations[mnemonic];
    if (operation.find(AttrName::flush_to_zero) != nullptr) ++facts_.flush_to_zero[mnemonic];
    gather_rounding(operation, mnemonic);
    gather_layouts(operation);
    if (const Attribute* hints = operation.find(AttrName::optimization_hints)) gather_access_hints(*hints);
    if (const Attribute* identities = operation.find(AttrName::identities)) {
      facts_.identities.insert(attribute_text(module_, AttrName::identities, *identities));
    }
    if (operation.opcode == Opcode::MmaF) facts_.accumulators.insert(type_of(operation.operands[2]));
    if (operation.opcode == Opcode::Assume) gather_assumption(operation);
    gather_block_ids(operation);
  }

  /// Only a rounding that the text shows: not an operation's usual one.
  void gather_rounding(const Operation& operation, const std::string& mnemonic) {
    for (const Part& part : assembly(operation.opcode).parts) {
      const bool rounding = part.attribute == AttrName::rounding_mode || part.attribute == AttrName::rounding;
      if (part.condition != Condition::differs || !rounding) continue;
      const Attribute* value = operation.find(part.attribute);
      if (value == nullptr || value->integer == part.value) continue;
      ++facts_.rounding[mnemonic][attribute_text(module_, part.attribute, *value)];
    }
  }

  void gather_access_hints(const Attribute& hints) {
    for (const Attribute& target : hints.children) {
      for (const Attribute& hint : target.children) {
        ++facts_.access_hints[std::string(hint.key)][attribute_text(module_, AttrName::optimization_hints, hint)];
      }
    }
  }

  void gather_assumption(const Operation& operation) {
    const Attribute* predicate = operation.find(AttrName::predicate);
    const Type& type = module_.type_of(function_, operation.operands[0]);
    if (predicate == nullptr || predicate->kind != AttrKind::div_by || !type.is_tile()) return;
    if (type.of_pointers) {
      ++facts_.pointer_div_by;
    } else if (type.shape.empty()) {
      ++facts_.scalar_div_by;
    }
  }

  void gather_block_ids(const Operation& operation) {
    const bool passes_on = operation.opcode == Opcode::Assume && from_block_id_[operation.operands[0]];
    if (operation.opcode == Opcode::GetTileBlockId || passes_on) {
      for (const ValueId result : operation.results) from_block_id_[result] = true;
    }
    if (operation.opcode != Opcode::DivI && operation.opcode != Opcode::RemI) return;
    facts_.swizzled |= std::ranges::any_of(operation.operands, [this](ValueId value) { return from_block_id_[value]; });
  }

  void gather_layouts(const Operation& operation) {
    for (const Piece& piece : assembly(operation.opcode).pieces) {
      if (piece.kind == PieceKind::operand_types) {
        for (const ValueId value : operation.group(piece.index)) count_layouts(type_of(value));
      } else if (piece.kind == PieceKind::result_type && piece.index < operation.results.size()) {
        count_layouts(type_of(operation.results[piece.index]));
      }
    }
  }

  void count_layouts(std::string_view type) {
    static constexpr std::pair<std::string_view, char> kLayouts[] = {
        {"strides=[", ']'}, {"tile=(", ')'}, {"dim_map=[", ']'}};
    for (const auto& [opening, closing] : kLayouts) {
      for (std::size_t at = type.find(opening); at != std::string_view::npos; at = type.find(opening, at + 1)) {
        const std::size_t end = type.find(closing, at);
        ++facts_.layouts[std::string(type.substr(at, end - at + 1))];
      }
    }
  }

  std::string type_of(ValueId value) const { return type_text(module_, function_.values[value]); }

  const Module& module_;
  const Function& function_;
  Facts& facts_;
  std::vector<bool> from_block_id_;
};

}  // namespace

Facts gather_facts(const Module& module) {
  Facts facts;
  for (const Function& function : module.functions) Gatherer(module, function, facts).gather();
  return facts;
}

}  // namespace tilegym::tile_ir
