#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tile_ir/module.h"

namespace tilegym::tile_ir {

/// One rule of the dialect that a module breaks.
struct Diagnostic {
  /// Mnemonic of the operation ("addf"); "entry", "global" or "module" where the rule is about one of those.
  std::string operation;
  /// Function or global that holds it; empty for the module.
  std::string symbol;
  /// What is wrong: the part of the operation ("operand 'rhs'"), what the rule wants, what is there, what to do.
  std::string subject;
  std::string wanted;
  std::string got;
  std::string remedy;
  /// Offset of the operation's first byte in the bytecode; 0 where a function, a global or the module is meant.
  std::size_t byte_offset = 0;

  /// "tile_ir: addf in 'kernel' at byte 120: operand 'rhs': wanted tile<4xf32>, got tile<8xf32>; <remedy>".
  [[nodiscard]] std::string text() const;
};

struct VerifyOptions {
  /// Diagnostics after which checking stops; at least 1.
  std::size_t limit = 100;
  /// Also checks keys and values of optimization hints, which compilers skip silently where they do not know them.
  bool hints = false;
};

/// Checks what the reader leaves open: types of operands and results, attribute values and their combinations, regions
/// and terminators, visibility of values, views, symbols. Accepts every module that NVIDIA's compiler accepts; an
/// engine may rely on the types and counts of a module without diagnostics. Diagnostics stand in the order types,
/// symbols, globals, functions, and by operation within a function. Precondition: attributes, segments and regions of
/// operations are those of the op table, as read_module sees to. Source: NVIDIA cuda-tile, Ops.td and the verifiers
/// under lib/Dialect/CudaTile/IR.
[[nodiscard]] std::vector<Diagnostic> verify(const Module& module, const VerifyOptions& options = {});

}  // namespace tilegym::tile_ir
