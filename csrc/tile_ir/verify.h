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

/// Checks what the reader leaves open: types of operands and results, attribute values and their combinations, regions
/// and terminators, views, symbols, hints. Accepts every module that NVIDIA's compiler accepts; an engine may rely on
/// the types and counts of a module without diagnostics. Stops after `limit` diagnostics (at least 1); those of a
/// function stand in the order of its operations. Precondition: the module comes from read_module. Source: NVIDIA
/// cuda-tile, Ops.td and the verifiers under lib/Dialect/CudaTile/IR.
[[nodiscard]] std::vector<Diagnostic> verify(const Module& module, std::size_t limit = 100);

}  // namespace tilegym::tile_ir
