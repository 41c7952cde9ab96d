#include "tile_ir/op_encoder.h"

#include <cstddef>

namespace tilegym::tile_ir::test {

namespace {

constexpr std::uint8_t kTileType = 1;
constexpr std::size_t kParameters = 5;
constexpr std::size_t kVariadicSize = 2;
const Bytes kYield = {0x6d, 0, 0};

/// A value of one attribute; numbers are the largest that fits into one byte.
Bytes attribute_value(AttrName attribute, bool has_result) {
  const AttrInfo& row = info(attribute);
  switch (row.encoding) {
    case AttrEncoding::unit:
      return {};
    case AttrEncoding::number:
      return {static_cast<std::uint8_t>(row.limit < 0x7f ? row.limit : 0x7f)};
    case AttrEncoding::boolean:
      return {1};
    case AttrEncoding::string:
      return {0};
    case AttrEncoding::type:
      return {kTileType};
    case AttrEncoding::i32_array:
      return {2, 1, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff};
    case AttrEncoding::dense:
      return has_result ? Bytes{0} : Bytes{kTileType, 0};
    case AttrEncoding::array:
      return {1, 3, 1};  // one boolean
    case AttrEncoding::hints:
      return {1, 0, 10, 0};  // text = {}
    case AttrEncoding::tagged:
      return {12, 1, 0x03};  // bounded<-2, ?>
  }
  return {};
}

class Encoder {
 public:
  Encoder(const OpSpec& spec, std::uint8_t minor, Parts parts) : spec_(spec), minor_(minor), parts_(parts) {}

  Bytes encode() {
    put_varint(out_, static_cast<std::uint64_t>(spec_.opcode));
    put_results();
    if (const unsigned bits = spec_.flag_bits(minor_); bits > 0) {
      put_varint(out_, parts_ == Parts::all ? (1u << bits) - 1 : 0);
    }
    for (const AttrSpec& attribute : spec_.attributes) {
      const bool wanted = attribute.since <= minor_ && (!attribute.flagged() || parts_ == Parts::all);
      if (wanted) put(out_, attribute_value(attribute.name, result_count() > 0));
    }
    put_operands();
    put_regions();
    return out_;
  }

 private:
  std::size_t result_count() const {
    if (spec_.results.variadic) return kVariadicSize;
    return spec_.results.since <= minor_ ? spec_.results.count : 0;
  }

  void put_results() {
    if (spec_.counts_results()) put_varint(out_, result_count());
    for (std::size_t i = 0; i < result_count(); ++i) out_.push_back(kTileType);
  }

  std::size_t group_size(const GroupSpec& group) const {
    if (group.arity == Arity::any) return kVariadicSize;
    return group.arity == Arity::one || (group.since <= minor_ && parts_ == Parts::all) ? 1 : 0;
  }

  void put_operands() {
    std::size_t total = 0;
    for (const GroupSpec& group : spec_.operands) total += group_size(group);
    if (!spec_.segmented() && spec_.operand_groups(Arity::any) > 0) put_varint(out_, total);
    std::size_t next = 0;
    for (const GroupSpec& group : spec_.operands) {
      if (spec_.segmented() && group.arity == Arity::any) put_varint(out_, kVariadicSize);
      for (std::size_t i = 0; i < group_size(group); ++i) put_varint(out_, next++ % kParameters);
    }
  }

  void put_regions() {
    if (spec_.regions.empty()) return;
    put_varint(out_, spec_.regions.size());
    for (const GroupSpec& region : spec_.regions) {
      if (region.arity == Arity::maybe && parts_ == Parts::required) {
        out_.push_back(0);
        continue;
      }
      put(out_, {1, 0, 1});  // one block, no arguments, one operation
      put(out_, kYield);
    }
  }

  const OpSpec& spec_;
  std::uint8_t minor_;
  Parts parts_;
  Bytes out_;
};

}  // namespace

std::vector<std::byte> module_with_body(const Bytes& body, std::uint8_t minor) {
  ModuleBytes module(minor);
  const std::uint32_t tile = module.tile(module.element(3), {});
  const std::uint32_t kernel = module.function_type({tile, tile, tile, tile, tile});
  module.string("text");
  module.constant({7, 0, 0, 0});
  module.function(kernel, body);
  return module.build();
}

std::vector<std::byte> module_with(const OpSpec& spec, std::uint8_t minor, Parts parts) {
  Bytes body = Encoder(spec, minor, parts).encode();
  if (!is_terminator(spec.opcode)) put(body, {0x5c, 0, 0});
  return module_with_body(body, minor);
}

}  // namespace tilegym::tile_ir::test
