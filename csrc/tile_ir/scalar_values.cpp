#include "tile_ir/scalar_values.h"

#include <algorithm>
#include <limits>

namespace tilegym::tile_ir {

namespace {

std::int64_t wrapped(std::uint64_t bits, int width) {
  const int unused = 64 - width;
  return static_cast<std::int64_t>(bits << unused) >> unused;
}

std::uint64_t as_unsigned(std::int64_t value, int width) {
  return width >= 64 ? static_cast<std::uint64_t>(value)
                     : static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << width) - 1);
}

/// Quotient rounded as the attribute says; the remainder has the sign of the dividend.
Known divided(std::int64_t a, std::int64_t b, Rounding rounding) {
  if (b == 0 || (a == std::numeric_limits<std::int64_t>::min() && b == -1)) return std::nullopt;
  const std::int64_t quotient = a / b;
  const bool inexact = a % b != 0;
  const bool negative = (a < 0) != (b < 0);
  if (rounding == Rounding::positive_inf && inexact && !negative) return quotient + 1;
  if (rounding == Rounding::negative_inf && inexact && negative) return quotient - 1;
  return quotient;
}

bool holds(Predicate predicate, std::int64_t a, std::int64_t b) {
  switch (predicate) {
    case Predicate::equal:
      return a == b;
    case Predicate::not_equal:
      return a != b;
    case Predicate::less:
      return a < b;
    case Predicate::less_equal:
      return a <= b;
    case Predicate::greater:
      return a > b;
    case Predicate::greater_equal:
      return a >= b;
  }
  return false;
}

/// Order as unsigned numbers of 64 bits have it, for signed comparison.
std::int64_t flipped(std::uint64_t value) {
  return static_cast<std::int64_t>(value ^ (std::uint64_t{1} << 63));
}

}  // namespace

int ScalarValues::width(ValueId value) const {
  return std::max(1, std::min(64, bit_width(module_.type_of(function_, value).element)));
}

void ScalarValues::evaluate(const Operation& operation) {
  if (operation.results.empty()) return;
  switch (operation.opcode) {
    case Opcode::GetTileBlockId:
      return set_all(operation, block_);
    case Opcode::GetNumTileBlocks:
      return set_all(operation, {grid_[0], grid_[1], grid_[2]});
    case Opcode::MakeTensorView:
    case Opcode::MakePartitionView:
    case Opcode::MakeStridedView:
      return evaluate_view(operation);
    case Opcode::GetTensorShape:
    case Opcode::GetIndexSpaceShape:
      return set_extents(operation);
    default:
      break;
  }
  for (const ValueId result : operation.results) values_[result] = std::nullopt;
  const Type& type = module_.type_of(function_, operation.results[0]);
  if (type.is_scalar_tile() && !type.of_pointers && !is_float(type.element)) {
    values_[operation.results[0]] = result_of(operation);
  }
}

void ScalarValues::set_all(const Operation& operation, const std::array<Known, 3>& known) {
  for (std::size_t i = 0; i < operation.results.size() && i < known.size(); ++i) {
    values_[operation.results[i]] = known[i];
  }
}

Known ScalarValues::result_of(const Operation& operation) const {
  switch (operation.opcode) {
    case Opcode::Constant:
      return constant(operation);
    case Opcode::Assume:
      return values_[operation.operands[0]];
    case Opcode::Reshape:
    case Opcode::Broadcast:
      return module_.type_of(function_, operation.operands[0]).is_scalar_tile() ? values_[operation.operands[0]]
                                                                                : std::nullopt;
    case Opcode::ExtI:
    case Opcode::TruncI:
      return resized(operation);
    case Opcode::CmpI:
      return compare(operation);
    case Opcode::Select: {
      const Known condition = values_[operation.operands[0]];
      return condition ? values_[operation.operands[*condition != 0 ? 1 : 2]] : std::nullopt;
    }
    default:
      return operation.operands.size() == 2 ? binary(operation) : std::nullopt;
  }
}

Known ScalarValues::constant(const Operation& operation) const {
  const Attribute* value = operation.find(AttrName::value);
  if (value == nullptr || value->kind != AttrKind::dense) return std::nullopt;
  const std::uint64_t bits = element_bits(module_.type(value->type), value->bytes, value->splat, 0);
  return wrapped(bits, width(operation.results[0]));
}

Known ScalarValues::resized(const Operation& operation) const {
  const Known source = values_[operation.operands[0]];
  if (!source) return std::nullopt;
  const bool zero_extended = operation.opcode == Opcode::ExtI && !operation.flag(AttrName::signedness);
  const std::uint64_t bits =
      zero_extended ? as_unsigned(*source, width(operation.operands[0])) : static_cast<std::uint64_t>(*source);
  return wrapped(bits, width(operation.results[0]));
}

Known ScalarValues::compare(const Operation& operation) const {
  const Known left = values_[operation.operands[0]];
  const Known right = values_[operation.operands[1]];
  if (!left || !right) return std::nullopt;
  const auto predicate = static_cast<Predicate>(operation.integer(AttrName::comparison_predicate));
  if (operation.flag(AttrName::signedness)) return holds(predicate, *left, *right) ? 1 : 0;
  const int bits = width(operation.operands[0]);
  return holds(predicate, flipped(as_unsigned(*left, bits)), flipped(as_unsigned(*right, bits))) ? 1 : 0;
}

Known ScalarValues::binary(const Operation& operation) const {
  const Known left = values_[operation.operands[0]];
  const Known right = values_[operation.operands[1]];
  if (!left || !right) return std::nullopt;
  const int bits = width(operation.results[0]);
  const bool is_signed = operation.flag(AttrName::signedness);
  const auto a = static_cast<std::uint64_t>(*left);
  const auto b = static_cast<std::uint64_t>(*right);
  // Unsigned operations see values below 2^63; larger ones stay unknown rather than wrong.
  const std::int64_t x = is_signed ? *left : static_cast<std::int64_t>(as_unsigned(*left, bits));
  const std::int64_t y = is_signed ? *right : static_cast<std::int64_t>(as_unsigned(*right, bits));
  const bool small = is_signed || (x >= 0 && y >= 0);
  const bool shiftable = *right >= 0 && *right < bits;
  switch (operation.opcode) {
    case Opcode::AddI:
      return wrapped(a + b, bits);
    case Opcode::SubI:
      return wrapped(a - b, bits);
    case Opcode::MulI:
      return wrapped(a * b, bits);
    case Opcode::AndI:
      return wrapped(a & b, bits);
    case Opcode::OrI:
      return wrapped(a | b, bits);
    case Opcode::XOrI:
      return wrapped(a ^ b, bits);
    case Opcode::ShLI:
      return shiftable ? Known(wrapped(a << b, bits)) : std::nullopt;
    case Opcode::ShRI:
      return shiftable && small ? Known(x >> *right) : std::nullopt;
    case Opcode::MaxI:
      return small ? Known(std::max(x, y)) : std::nullopt;
    case Opcode::MinI:
      return small ? Known(std::min(x, y)) : std::nullopt;
    case Opcode::DivI:
      return small ? divided(x, y, static_cast<Rounding>(operation.integer(AttrName::rounding))) : std::nullopt;
    case Opcode::RemI:
      return small && y != 0 && y != -1 ? Known(x % y) : std::nullopt;
    default:
      return std::nullopt;
  }
}

void ScalarValues::evaluate_view(const Operation& operation) {
  const Type& type = module_.type_of(function_, operation.results[0]);
  Extents extents;
  if (operation.opcode == Opcode::MakeTensorView) {
    const std::span<const ValueId> dynamic = operation.group(1);
    std::size_t next = 0;
    for (const std::int64_t extent : type.shape) {
      if (extent != kDynamic) {
        extents.emplace_back(extent);
      } else {
        extents.push_back(next < dynamic.size() ? values_[dynamic[next]] : std::nullopt);
        ++next;
      }
    }
  } else {
    const Extents& tensor = extents_[operation.operands[0]];
    const std::vector<std::int64_t>& steps = type.kind == TypeKind::strided_view ? type.strides : type.shape;
    for (std::size_t i = 0; i < type.dim_map.size(); ++i) {
      const auto dimension = static_cast<std::size_t>(type.dim_map[i]);
      const Known extent = dimension < tensor.size() ? tensor[dimension] : std::nullopt;
      extents.push_back(extent ? divided(*extent, steps[i], Rounding::positive_inf) : std::nullopt);
    }
  }
  extents_[operation.results[0]] = std::move(extents);
}

void ScalarValues::set_extents(const Operation& operation) {
  const Extents& extents = extents_[operation.operands[0]];
  for (std::size_t i = 0; i < operation.results.size(); ++i) {
    values_[operation.results[i]] = i < extents.size() ? extents[i] : std::nullopt;
  }
}

}  // namespace tilegym::tile_ir
