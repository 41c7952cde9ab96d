#pragma once

#include <string>

#include "tile_ir/module.h"

namespace tilegym::tile_ir {

struct PrintOptions {
  /// With the location of every operation, and the definitions of the locations' names at the end.
  bool locations = false;
};

/// The module as text, byte for byte what NVIDIA's tileirdisasm writes (with `locations`: its -g). An operation at
/// which reading stopped is a line of its own with its number and the bytes that were not read.
[[nodiscard]] std::string print_module(const Module& module, PrintOptions options = {});

}  // namespace tilegym::tile_ir
