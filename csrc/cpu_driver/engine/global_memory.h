#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "cpu_driver/engine/engine.h"
#include "cpu_driver/engine/memory_map.h"

namespace tilegym::cpu {

/// The globals of one loaded module in one block of memory, each at its own alignment, in the order of the module.
class GlobalMemory {
 public:
  struct Variable {
    std::string name;
    std::size_t offset = 0;
    std::size_t bytes = 0;
  };

  GlobalMemory(std::vector<Variable> variables, std::size_t bytes, std::size_t alignment);
  GlobalMemory(const GlobalMemory&) = delete;
  GlobalMemory& operator=(const GlobalMemory&) = delete;
  ~GlobalMemory();

  [[nodiscard]] const std::vector<Variable>& variables() const noexcept { return variables_; }
  /// Kernels write globals, so their memory is not const where the object is.
  [[nodiscard]] std::span<std::byte> memory_of(const Variable& variable) const noexcept {
    return {data_ + variable.offset, variable.bytes};
  }

 private:
  std::vector<Variable> variables_;
  std::size_t alignment_;
  std::byte* data_;
};

/// Adds the globals to what a launch may touch.
void add_globals(const GlobalMemory& globals, MemoryMap& map);

}  // namespace tilegym::cpu
