#include "tile_ir/module_edit.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tile_ir/goldens.h"
#include "tile_ir/verify.h"

namespace tilegym::tile_ir::test {

Type tile_type(ElementType element, std::initializer_list<std::int64_t> shape) {
  Type type;
  type.kind = TypeKind::tile;
  type.element = element;
  type.shape = shape;
  return type;
}

Type pointer_tile(ElementType pointee, std::initializer_list<std::int64_t> shape) {
  Type type = tile_type(pointee, shape);
  type.of_pointers = true;
  return type;
}

Type token_type() {
  return {};
}

ModuleEdit::ModuleEdit(Opcode opcode, std::size_t nth) : module_(read_golden("every_operation_13_3")) {
  op_ = const_cast<Operation*>(find_all(kernel(), opcode).at(nth));
}

TypeId ModuleEdit::add(const Type& type) {
  module_.types.push_back(type);
  return static_cast<TypeId>(module_.types.size() - 1);
}

ValueId ModuleEdit::value(const Type& type) {
  kernel().values.push_back(add(type));
  kernel().body.arguments.push_back(static_cast<ValueId>(kernel().values.size() - 1));
  return kernel().body.arguments.back();
}

void ModuleEdit::result(std::size_t index, const Type& type) {
  kernel().values[op().results[index]] = add(type);
}

void ModuleEdit::group(std::size_t index, std::initializer_list<Type> types) {
  std::vector<ValueId> operands;
  for (std::size_t i = 0; i < op().segments.size(); ++i) {
    if (i == index) {
      for (const Type& type : types) operands.push_back(value(type));
    } else {
      const auto kept = op().group(i);
      operands.insert(operands.end(), kept.begin(), kept.end());
    }
  }
  op().operands = std::move(operands);
  op().segments[index] = static_cast<std::uint32_t>(types.size());
}

void ModuleEdit::set(AttrName name, std::uint64_t number) {
  if (op().find(name) == nullptr) op().attributes.push_back({name, {}});
  attribute(name).integer = number;
}

void ModuleEdit::drop(AttrName name) {
  std::erase_if(op().attributes, [name](const NamedAttribute& attribute) { return attribute.name == name; });
}

Attribute& ModuleEdit::attribute(AttrName name) {
  return *const_cast<Attribute*>(op().find(name));
}

std::string ModuleEdit::verdict() const {
  const std::vector<Diagnostic> diagnostics = verify(module_);
  if (diagnostics.empty()) return "accepted";
  const Diagnostic& first = diagnostics.front();
  return first.subject + ": wanted " + first.wanted + ", got " + first.got + "; " + first.remedy;
}

}  // namespace tilegym::tile_ir::test
