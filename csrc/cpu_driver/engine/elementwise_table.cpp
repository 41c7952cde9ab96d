#include "cpu_driver/engine/elementwise_table.h"

#include <algorithm>
#include <array>

namespace tilegym::cpu {
namespace {

using tile_ir::AttrName;
using tile_ir::Opcode;

constexpr bool kExact = true;
constexpr bool kRounded = true;

constexpr std::array kRows{
    ElementwiseRow{Opcode::AbsF, StripOp::abs, kExact},
    ElementwiseRow{Opcode::AbsI, StripOp::abs},
    ElementwiseRow{Opcode::AddF, StripOp::add, !kExact, kRounded},
    ElementwiseRow{Opcode::AddI, StripOp::add},
    ElementwiseRow{Opcode::AndI, StripOp::and_},
    ElementwiseRow{Opcode::Atan2, StripOp::atan2},
    ElementwiseRow{Opcode::Ceil, StripOp::ceil},
    ElementwiseRow{Opcode::CmpF, StripOp::compare, kExact},
    ElementwiseRow{Opcode::CmpI, StripOp::compare},
    ElementwiseRow{Opcode::Cos, StripOp::cos},
    ElementwiseRow{Opcode::CosH, StripOp::cosh},
    ElementwiseRow{Opcode::DivF, StripOp::div, !kExact, kRounded},
    ElementwiseRow{Opcode::DivI, StripOp::div, !kExact, kRounded},
    ElementwiseRow{Opcode::Exp, StripOp::exp},
    ElementwiseRow{Opcode::Exp2, StripOp::exp2},
    ElementwiseRow{Opcode::Floor, StripOp::floor},
    ElementwiseRow{Opcode::Fma, StripOp::fma, !kExact, kRounded},
    ElementwiseRow{Opcode::Log, StripOp::log},
    ElementwiseRow{Opcode::Log2, StripOp::log2},
    ElementwiseRow{Opcode::MaxF, StripOp::max, kExact},
    ElementwiseRow{Opcode::MaxI, StripOp::max},
    ElementwiseRow{Opcode::MinF, StripOp::min, kExact},
    ElementwiseRow{Opcode::MinI, StripOp::min},
    ElementwiseRow{Opcode::MulF, StripOp::mul, !kExact, kRounded},
    ElementwiseRow{Opcode::MulhiI, StripOp::mulhi},
    ElementwiseRow{Opcode::MulI, StripOp::mul},
    ElementwiseRow{Opcode::NegF, StripOp::neg, kExact},
    ElementwiseRow{Opcode::NegI, StripOp::neg},
    ElementwiseRow{Opcode::OrI, StripOp::or_},
    ElementwiseRow{Opcode::Pow, StripOp::pow},
    ElementwiseRow{Opcode::RemF, StripOp::rem},
    ElementwiseRow{Opcode::RemI, StripOp::rem},
    ElementwiseRow{Opcode::Rsqrt, StripOp::rsqrt},
    ElementwiseRow{Opcode::Select, StripOp::select, kExact},
    ElementwiseRow{Opcode::ShLI, StripOp::shl},
    ElementwiseRow{Opcode::ShRI, StripOp::shr},
    ElementwiseRow{Opcode::Sin, StripOp::sin},
    ElementwiseRow{Opcode::SinH, StripOp::sinh},
    ElementwiseRow{Opcode::Sqrt, StripOp::sqrt, !kExact, kRounded},
    ElementwiseRow{Opcode::SubF, StripOp::sub, !kExact, kRounded},
    ElementwiseRow{Opcode::SubI, StripOp::sub},
    ElementwiseRow{Opcode::Tan, StripOp::tan},
    ElementwiseRow{Opcode::TanH, StripOp::tanh},
    ElementwiseRow{Opcode::XOrI, StripOp::xor_},
};

template <class E>
E enumerator(const tile_ir::Operation& op, AttrName name, E fallback) {
  return static_cast<E>(op.integer(name, static_cast<std::uint64_t>(fallback)));
}

tile_ir::Rounding rounding_of(const tile_ir::Operation& op) {
  // Integer division names its attribute differently and rounds towards zero by default.
  if (op.opcode == Opcode::DivI) return enumerator(op, AttrName::rounding, tile_ir::Rounding::zero);
  return enumerator(op, AttrName::rounding_mode, tile_ir::Rounding::nearest_even);
}

}  // namespace

const ElementwiseRow* find_elementwise(Opcode opcode) noexcept {
  const auto* row = std::ranges::find(kRows, opcode, &ElementwiseRow::opcode);
  return row == kRows.end() ? nullptr : row;
}

StripKey elementwise_key(const ElementwiseRow& row, const tile_ir::Operation& op, Lane lane) {
  StripKey key{.op = row.op, .lane = lane};
  if (row.rounded) key.rounding = rounding_of(op);
  // mulhii is defined on unsigned values only and has no attribute.
  const auto sign = row.op == StripOp::mulhi ? tile_ir::Signedness::unsigned_ : tile_ir::Signedness::signed_;
  key.signedness = enumerator(op, AttrName::signedness, sign);
  key.predicate = enumerator(op, AttrName::comparison_predicate, tile_ir::Predicate::equal);
  key.ordering = enumerator(op, AttrName::comparison_ordering, tile_ir::Ordering::ordered);
  key.flush_to_zero = op.flag(AttrName::flush_to_zero);
  key.propagate_nan = op.flag(AttrName::propagate_nan);
  return key;
}

}  // namespace tilegym::cpu
