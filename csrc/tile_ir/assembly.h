#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "tile_ir/op_table.h"

/// The text form of operations, as `assembly.def` describes it.
namespace tilegym::tile_ir {

/// Pieces of text that follow rules of their own.
enum class Custom : std::uint8_t {
  induction_variable,  // first argument of the body
  iteration_values,    // arguments of the body behind those that have no initial value, each with its initial value
  body,                // the first region
  else_body,           // the second region, where it has a block
  argument_body,       // the first region on a line of its own, behind its arguments
  if_results,          // types of the results behind an arrow, where there are any
  loop_types,          // types of initial values and results, as far as there are any
  index_types,         // types of the group `index`: one where all are equal
  shape,               // extents of a tensor view: numbers, and operands for dynamic ones
  strides,
  dynamic_type,  // type of the dynamic extents and an arrow, where there are any
};

enum class PieceKind : std::uint8_t { literal, operands, operand_types, result_type, result_types, attribute, custom };

struct Piece {
  PieceKind kind{};
  std::string_view text = {};  ///< literal
  std::size_t index = 0;       ///< operands, operand_types: group; result_type: result
  AttrName attribute{};
  Custom custom{};
};

/// When the pieces from `begin` to `end` are written.
enum class Condition : std::uint8_t { always, has_operands, has_attribute, differs };

struct Part {
  Condition condition{};
  std::size_t index = 0;  ///< has_operands: group
  AttrName attribute{};
  std::uint64_t value = 0;  ///< differs
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct Assembly {
  /// One hint for the first result, or one for each; empty: results are numbered.
  std::vector<std::string_view> result_names;
  /// Whether the operation has a say in its results' names, though it may give none.
  bool names_results = false;
  std::vector<Piece> pieces;
  std::vector<Part> parts;
};

/// Precondition: the operation stands in functions (not entry, global or module) and is known.
[[nodiscard]] const Assembly& assembly(Opcode opcode);

}  // namespace tilegym::tile_ir
