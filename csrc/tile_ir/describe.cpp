#include "tile_ir/describe.h"

#include "tile_ir/text.h"

namespace tilegym::tile_ir {

std::string type_text(const Module& module, TypeId type) {
  std::string text;
  append_type(text, module, module.type(type));
  return text;
}

std::vector<Property> properties(const Module& module, const Function& function, const Operation& operation) {
  std::vector<Property> found;
  for (const NamedAttribute& attribute : operation.attributes) {
    std::string text;
    append_attribute(text, module, attribute.name, attribute.value);
    found.emplace_back(name(attribute.name), std::move(text));
  }
  for (const ValueId result : operation.results) {
    found.emplace_back("result", type_text(module, function.values[result]));
  }
  return found;
}

}  // namespace tilegym::tile_ir
