#include "tile_ir/location_names.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "tile_ir/text.h"

namespace tilegym::tile_ir {

LocationNames::LocationNames(const Module& module) : module_(module), nodes_of_entries_(module.debug.size(), 0) {
  // Globals, and a module with nothing in it, are at the unknown location.
  if (!module.globals.empty() || module.functions.empty()) use(node_of(0));
  for (const Function& function : module.functions) {
    use(node_of(function.location));
    use_block(nullptr, function.body);
  }
  number();
}

void LocationNames::append_trailing(std::string& out, DebugId location) const {
  out += " loc(";
  out += labels_[nodes_of_entries_[location] - 1];
  out += ')';
}

void LocationNames::append_definitions(std::string& out) const {
  for (const NodeId node : order_) {
    out += labels_[node];
    out += " = ";
    append_definition(out, nodes_[node]);
    out += '\n';
  }
}

void LocationNames::use_block(const Operation* parent, const Block& block) {
  for (const Operation& operation : block.operations) {
    if (parent != nullptr && is_hidden_terminator(*parent, operation)) continue;
    use(node_of(operation.location));
    for (const Region& region : operation.regions) {
      for (const Block& inner : region.blocks) use_block(&operation, inner);
    }
  }
}

LocationNames::NodeId LocationNames::node_of(DebugId id) {
  if (nodes_of_entries_[id] == 0) {
    const NodeId node = intern(describe(module_.debug[id]));
    nodes_of_entries_[id] = node + 1;
  }
  return nodes_of_entries_[id] - 1;
}

LocationNames::Node LocationNames::describe(const DebugEntry& entry) {
  Node node{.name = entry.name, .detail = entry.detail, .line = entry.line, .column = entry.column};
  switch (entry.kind) {
    case DebugKind::unknown:
      return {};
    case DebugKind::compile_unit:
      return {.kind = NodeKind::compile_unit, .first = node_of(entry.other)};
    case DebugKind::file:
      node.kind = NodeKind::file;
      break;
    case DebugKind::lexical_block:
      node.kind = NodeKind::lexical_block;
      node.first = node_of(entry.scope);
      node.second = node_of(entry.other);
      break;
    case DebugKind::location:
      node.kind = NodeKind::position;
      return {.kind = NodeKind::location, .first = intern(node), .second = node_of(entry.scope)};
    case DebugKind::subprogram:
      node.kind = NodeKind::subprogram;
      node.first = node_of(entry.other);
      node.second = node_of(entry.scope);
      break;
    case DebugKind::call_site:
      return {.kind = NodeKind::call_site, .first = node_of(entry.scope), .second = node_of(entry.other)};
  }
  return node;
}

LocationNames::NodeId LocationNames::intern(const Node& node) {
  const auto [found, fresh] = known_.try_emplace(node, static_cast<NodeId>(nodes_.size()));
  if (fresh) {
    nodes_.push_back(node);
    depths_.push_back(0);
  }
  return found->second;
}

void LocationNames::use(NodeId node) {
  if (depths_[node] != 0) return;
  order_.push_back(node);
  depths_[node] = 1;
  for (const NodeId referred : {nodes_[node].first, nodes_[node].second}) {
    if (referred == kNoNode) continue;
    use(referred);
    depths_[node] = std::max(depths_[node], depths_[referred] + 1);
  }
}

void LocationNames::number() {
  static constexpr std::string_view kNames[] = {
      "loc", "loc", "loc", "loc", "di_file", "di_compile_unit", "di_lexical_block", "di_subprogram"};
  const auto name = [this](NodeId node) { return kNames[static_cast<std::size_t>(nodes_[node].kind)]; };
  std::ranges::stable_sort(order_, {}, [&](NodeId node) { return std::pair(depths_[node], name(node)); });
  labels_.resize(nodes_.size());
  std::map<std::string_view, int> counts;
  for (const NodeId node : order_) {
    const int index = counts[name(node)]++;
    labels_[node] = "#" + std::string(name(node)) + (index == 0 ? "" : std::to_string(index));
  }
}

void LocationNames::append_definition(std::string& out, const Node& node) const {
  const auto label = [this](NodeId id) -> const std::string& { return labels_[id]; };
  const auto quoted = [](std::string_view text) {
    std::string buffer;
    append_quoted(buffer, text);
    return buffer;
  };
  const std::string line = std::to_string(node.line);
  const std::string column = std::to_string(node.column);
  switch (node.kind) {
    case NodeKind::unknown:
      out += "loc(unknown)";
      break;
    case NodeKind::position:
      out += "loc(" + quoted(node.name) + ":" + line + ":" + column + ")";
      break;
    case NodeKind::location:
      out += "#cuda_tile.di_loc<" + label(node.first) + " in " + label(node.second) + ">";
      break;
    case NodeKind::call_site:
      out += "loc(callsite(" + label(node.first) + " at " + label(node.second) + "))";
      break;
    case NodeKind::file:
      out += "#cuda_tile.di_file<" + quoted(node.name) + " in " + quoted(node.detail) + ">";
      break;
    case NodeKind::compile_unit:
      out += "#cuda_tile.di_compile_unit<file = " + label(node.first) + ">";
      break;
    case NodeKind::lexical_block:
      out += "#cuda_tile.di_lexical_block<scope = " + label(node.first) + ", file = " + label(node.second) +
             ", line = " + line + (node.column == 0 ? "" : ", column = " + column) + ">";
      break;
    case NodeKind::subprogram:
      out += "#cuda_tile.di_subprogram<file = " + label(node.first) + ", line = " + line +
             ", name = " + quoted(node.name) + ", linkageName = " + quoted(node.detail) +
             ", compileUnit = " + label(node.second) + (node.column == 0 ? "" : ", scopeLine = " + column) + ">";
      break;
  }
}

}  // namespace tilegym::tile_ir
