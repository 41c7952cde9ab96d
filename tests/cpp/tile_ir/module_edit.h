#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include "tile_ir/module.h"

namespace tilegym::tile_ir::test {

/// Types for tests.
Type tile_type(ElementType element, std::initializer_list<std::int64_t> shape);
Type pointer_tile(ElementType pointee, std::initializer_list<std::int64_t> shape);
Type token_type();

/// One operation of the golden that holds every operation, and ways to break it in memory.
class ModuleEdit {
 public:
  /// The `nth` operation with that code.
  explicit ModuleEdit(Opcode opcode, std::size_t nth = 0);

  /// A value of that type, defined before all operations.
  ValueId value(const Type& type);
  /// Gives the operand at that position of the whole list another value of that type.
  void operand(std::size_t index, const Type& type) { op().operands[index] = value(type); }
  void result(std::size_t index, const Type& type);
  /// Replaces the operands of a group.
  void group(std::size_t index, std::initializer_list<Type> types);
  void set(AttrName name, std::uint64_t number);
  void drop(AttrName name);
  Attribute& attribute(AttrName name);
  /// Type of the view of an operand or result, to be changed in place.
  Type& type_of(ValueId value) { return module().types[kernel().values[value]]; }

  Module& module() { return module_; }
  Function& kernel() { return module_.functions.front(); }
  Operation& op() { return *op_; }
  Block& body(std::size_t region = 0) { return op().regions[region].blocks.front(); }
  /// Texts of the first diagnostic without its place: "operand 'rhs': wanted …".
  std::string verdict() const;

 private:
  TypeId add(const Type& type);

  Module module_;
  Operation* op_;
};

}  // namespace tilegym::tile_ir::test
