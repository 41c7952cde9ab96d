#include "tile_ir/op_table.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace tilegym::tile_ir {

namespace {

constexpr std::uint64_t kMaxInt32 = std::numeric_limits<std::int32_t>::max();
constexpr std::uint64_t kMaxInt64 = std::numeric_limits<std::int64_t>::max();

constexpr AttrInfo kAttributes[] = {
#define TILE_IR_ATTR(identifier, encoding, limit) {#identifier, AttrEncoding::encoding, limit},
#include "tile_ir/attributes.def"
#undef TILE_IR_ATTR
};

// The words of opcodes.def's columns.
namespace columns {

using enum AttrName;

constexpr AttrSpec required(AttrName attribute) {
  return {attribute, Presence::required};
}
constexpr AttrSpec added(AttrName attribute, std::uint8_t since, std::uint8_t fallback) {
  return {attribute, Presence::added, since, fallback};
}
constexpr AttrSpec optional(AttrName attribute, std::uint8_t since = 1) {
  return {attribute, Presence::optional, since};
}
constexpr AttrSpec unit(AttrName attribute, std::uint8_t since = 1) {
  return {attribute, Presence::unit, since};
}
constexpr GroupSpec one(std::string_view name) {
  return {name, Arity::one};
}
constexpr GroupSpec any(std::string_view name) {
  return {name, Arity::any};
}
constexpr GroupSpec maybe(std::string_view name, std::uint8_t since = 1) {
  return {name, Arity::maybe, since};
}
constexpr ResultSpec fixed(std::uint8_t count, std::uint8_t since = 1) {
  return {count, false, since};
}
constexpr ResultSpec any_results() {
  return {0, true};
}

#define TILE_IR_ROWS(...) {__VA_ARGS__}
constexpr OpSpec kOperations[] = {
#define TILE_IR_OP(identifier, mnemonic, code, since, results, attributes, operands, regions) \
  {Opcode::identifier, mnemonic, since, results, TILE_IR_ROWS attributes, TILE_IR_ROWS operands, TILE_IR_ROWS regions},
#include "tile_ir/opcodes.def"
#undef TILE_IR_OP
};
#undef TILE_IR_ROWS

}  // namespace columns

constexpr auto kCodeOf = [](const OpSpec& spec) { return static_cast<std::uint64_t>(spec.opcode); };

/// The bits of the flags word are numbered by version first; the reader takes them in the order of the table.
constexpr bool flags_are_in_version_order(const OpSpec& spec) {
  std::uint8_t last = 0;
  const auto follows = [&last](std::uint8_t since) { return std::exchange(last, since) <= since; };
  for (const AttrSpec& attribute : spec.attributes) {
    if (attribute.flagged() && !follows(attribute.since)) return false;
  }
  for (const GroupSpec& group : spec.operands) {
    if (group.arity == Arity::maybe && !follows(group.since)) return false;
  }
  return true;
}

static_assert(std::ranges::all_of(columns::kOperations, flags_are_in_version_order));
static_assert(std::ranges::is_sorted(columns::kOperations, std::ranges::less{}, kCodeOf));

constexpr std::size_t kCodes = static_cast<std::size_t>(std::ranges::max(columns::kOperations, {}, kCodeOf).opcode) + 1;

/// Row of each code; null where none has it.
constexpr auto kRowOfCode = [] {
  std::array<const OpSpec*, kCodes> rows{};
  for (const OpSpec& spec : columns::kOperations) rows[kCodeOf(spec)] = &spec;
  return rows;
}();

}  // namespace

const AttrInfo& info(AttrName attribute) noexcept {
  return kAttributes[static_cast<std::size_t>(attribute)];
}

std::span<const OpSpec> op_table() noexcept {
  return columns::kOperations;
}

const OpSpec* find_op(std::uint64_t code) noexcept {
  return code < kRowOfCode.size() ? kRowOfCode[code] : nullptr;
}

bool is_terminator(Opcode opcode) noexcept {
  return opcode == Opcode::Break || opcode == Opcode::Continue || opcode == Opcode::Return || opcode == Opcode::Yield;
}

std::string_view name(Opcode opcode) noexcept {
  const OpSpec* spec = find_op(static_cast<std::uint64_t>(opcode));
  return spec == nullptr ? "unknown" : spec->mnemonic;
}

std::string_view name(AttrName attribute) noexcept {
  return info(attribute).name;
}

}  // namespace tilegym::tile_ir
