#include "tile_ir/op_cost.h"

namespace tilegym::tile_ir {

namespace {

/// What an operation's flops are counted by.
enum class Work : std::uint8_t { none, element, two_an_element, product, reduction, scan, load, store, atomic };

Work work_of(Opcode opcode) {
  switch (opcode) {
    case Opcode::AbsF:
    case Opcode::AddF:
    case Opcode::Atan2:
    case Opcode::Ceil:
    case Opcode::Cos:
    case Opcode::CosH:
    case Opcode::DivF:
    case Opcode::Exp:
    case Opcode::Exp2:
    case Opcode::Floor:
    case Opcode::Log:
    case Opcode::Log2:
    case Opcode::MaxF:
    case Opcode::MinF:
    case Opcode::MulF:
    case Opcode::NegF:
    case Opcode::Pow:
    case Opcode::RemF:
    case Opcode::Rsqrt:
    case Opcode::Sin:
    case Opcode::SinH:
    case Opcode::Sqrt:
    case Opcode::SubF:
    case Opcode::Tan:
    case Opcode::TanH:
      return Work::element;
    case Opcode::Fma:
      return Work::two_an_element;
    case Opcode::MmaF:
    case Opcode::MmaI:
    case Opcode::MmaFScaled:
      return Work::product;
    case Opcode::Reduce:
      return Work::reduction;
    case Opcode::Scan:
      return Work::scan;
    case Opcode::LoadPtrTko:
    case Opcode::LoadViewTko:
      return Work::load;
    case Opcode::StorePtrTko:
    case Opcode::StoreViewTko:
      return Work::store;
    case Opcode::AtomicRMW:
    case Opcode::AtomicCAS:
    case Opcode::AtomicRedViewTko:
      return Work::atomic;
    default:
      return Work::none;
  }
}

/// None where a module that was not verified has another type in its place.
std::uint64_t elements(const Type& tile) {
  return tile.is_tile() ? static_cast<std::uint64_t>(tile.element_count()) : 0;
}

std::uint64_t bytes(const Type& tile) {
  return (elements(tile) * static_cast<std::uint64_t>(tile.of_pointers ? 64 : bit_width(tile.element)) + 7) / 8;
}

/// Which operand of a store or atomic holds the values.
std::size_t value_operand(const Operation& operation) {
  switch (operation.opcode) {
    case Opcode::StoreViewTko:
      return operation.group(0).front();
    case Opcode::AtomicCAS:
      return operation.group(2).front();
    case Opcode::AtomicRedViewTko:
      return operation.group(2).front();
    default:
      return operation.group(1).front();
  }
}

}  // namespace

OpCost cost_of(const Module& module, const Function& function, const Operation& operation) {
  OpCost cost;
  const auto type = [&](std::size_t value) -> const Type& {
    return module.type_of(function, static_cast<ValueId>(value));
  };
  const Work work = work_of(operation.opcode);
  if (work == Work::none || operation.operands.empty()) return cost;
  switch (work) {
    case Work::element:
    case Work::two_an_element:
      cost.type = type(operation.results[0]).element;
      cost.flops = elements(type(operation.results[0])) * (work == Work::element ? 1 : 2);
      break;
    case Work::product: {
      const Type& left = type(operation.operands[0]);
      cost.matrix = true;
      cost.type = left.element;
      if (left.is_tile() && !left.shape.empty()) {
        cost.flops = 2 * elements(type(operation.results[0])) * static_cast<std::uint64_t>(left.shape.back());
      }
      break;
    }
    case Work::reduction:
    case Work::scan: {
      // A line of n elements takes n - 1 runs of the body.
      const Type& source = type(operation.operands[0]);
      const auto dim = operation.integer(AttrName::dim);
      const bool fits = source.is_tile() && dim < source.shape.size();
      const std::uint64_t length = fits ? static_cast<std::uint64_t>(source.shape[dim]) : 1;
      cost.body_runs = elements(source) - elements(source) / length;
      break;
    }
    case Work::load:
      cost.bytes_read = bytes(type(operation.results[0]));
      break;
    case Work::store:
      cost.bytes_written = bytes(type(value_operand(operation)));
      break;
    case Work::atomic:
      cost.bytes_read = cost.bytes_written = bytes(type(value_operand(operation)));
      break;
    case Work::none:
      break;
  }
  return cost;
}

}  // namespace tilegym::tile_ir
