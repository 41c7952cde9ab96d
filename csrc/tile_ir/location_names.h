#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "tile_ir/module.h"

namespace tilegym::tile_ir {

/// The names of debug information in a module's text ("#loc12"), and the lines that define them. Equal entries share a
/// name; names are numbered by how deep an entry's references go, then in the order of the first use.
class LocationNames {
 public:
  explicit LocationNames(const Module& module);

  /// Appends " loc(#locN)".
  void append_trailing(std::string& out, DebugId location) const;
  /// One line for each name.
  void append_definitions(std::string& out) const;

 private:
  /// Index into nodes_.
  using NodeId = std::uint32_t;
  static constexpr NodeId kNoNode = ~NodeId{0};

  enum class NodeKind : std::uint8_t {
    unknown,
    position,
    location,
    call_site,
    file,
    compile_unit,
    lexical_block,
    subprogram,
  };

  struct Node {
    NodeKind kind{};
    std::string_view name = {};
    std::string_view detail = {};
    /// What the node refers to, in the order of its text.
    NodeId first = kNoNode;
    NodeId second = kNoNode;
    std::uint32_t line = 0;
    std::uint32_t column = 0;

    [[nodiscard]] auto key() const { return std::tie(kind, name, detail, first, second, line, column); }
    bool operator<(const Node& other) const { return key() < other.key(); }
  };

  void use_block(const Operation* parent, const Block& block);
  /// The node of an entry, or of an equal one.
  NodeId node_of(DebugId id);
  Node describe(const DebugEntry& entry);
  NodeId intern(const Node& node);
  /// Counts a use: the node first, then what it refers to, as the text would name them.
  void use(NodeId node);
  void number();
  void append_definition(std::string& out, const Node& node) const;

  const Module& module_;
  std::vector<Node> nodes_;
  std::map<Node, NodeId> known_;
  /// Node of each entry of Module::debug that is used, plus one.
  std::vector<NodeId> nodes_of_entries_;
  /// Of each node, 0 before its first use: one more than what it refers to.
  std::vector<int> depths_;
  std::vector<std::string> labels_;
  /// In the order of first use, then of the definitions.
  std::vector<NodeId> order_;
};

}  // namespace tilegym::tile_ir
