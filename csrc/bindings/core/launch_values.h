#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <vector>

#include "runtime/tile_program.h"
#include "tile_ir/module.h"

/// From Python values to the arguments of a Tile IR entry. Everything here needs the GIL.
namespace tilegym::bindings {

/// A parameter of an entry as the module declares it.
struct EntryParameter {
  tile_ir::ElementType element = tile_ir::ElementType::i32;  ///< of a pointer: what it points to
  bool is_pointer = false;

  /// "f32", "ptr<f32>".
  [[nodiscard]] std::string type_text() const;
};

/// The arguments of one launch. Holds the arrays' buffers, so that their memory stays where it is.
class LaunchValues {
 public:
  /// Appends the value of a parameter: an array or None for a pointer, a number for anything else. Raises TypeError,
  /// ValueError or OverflowError that name the argument.
  void add(const EntryParameter& parameter, const pybind11::handle& value, std::string name);
  /// Appends an array that the kernel reaches without a parameter of its own.
  void add_memory(const pybind11::handle& value, std::string name);

  [[nodiscard]] const std::vector<runtime::LaunchArgument>& arguments() const noexcept { return arguments_; }
  [[nodiscard]] const std::vector<runtime::LaunchArgument>& memory() const noexcept { return memory_; }

 private:
  std::vector<runtime::LaunchArgument> arguments_;
  std::vector<runtime::LaunchArgument> memory_;
  std::vector<pybind11::object> keepers_;
};

}  // namespace tilegym::bindings
