#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tile_ir/module.h"

namespace tilegym::tile_ir::test {

/// Bytes of tests/goldens/tile_ir/<name>.tileirbc; fails the test where it cannot be read.
std::vector<std::byte> golden(const std::string& name);
/// What NVIDIA's disassembler writes for it, with locations (its -g).
std::string golden_text(const std::string& name);
/// Names of all goldens, sorted.
std::vector<std::string> golden_names();

/// The module of a golden; fails the test and returns an empty module where it is refused.
Module read_golden(const std::string& name);

/// How often each operation stands in a function, nested regions included.
std::map<std::string_view, int> histogram(const Function& function);

/// The operations with this code, in file order, nested regions included.
std::vector<const Operation*> find_all(const Function& function, Opcode opcode);

}  // namespace tilegym::tile_ir::test
