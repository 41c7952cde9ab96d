#include "tile_ir/writer_tables.h"

#include <algorithm>
#include <iterator>

#include "tile_ir/type_reader.h"

namespace tilegym::tile_ir {

namespace {

template <class Number>
void put_array(ByteWriter& out, const std::vector<Number>& numbers, std::size_t width) {
  out.varint(numbers.size());
  for (const Number number : numbers) out.fixed(static_cast<std::uint64_t>(static_cast<std::int64_t>(number)), width);
}

void put_types(ByteWriter& out, const std::vector<TypeId>& types) {
  out.varint(types.size());
  for (const TypeId type : types) out.varint(type);
}

}  // namespace

WriterTables::WriterTables(const Module& module) : minor_(module.version.minor), all_(module.types) {
  // Types that others need are appended to the end of this walk.
  for (std::size_t i = 0; i < all_.size(); ++i) add_type(Type(all_[i]));
  for (std::size_t i = 1; i < module.debug.size(); ++i) add_debug(module.debug[i]);
}

std::uint32_t WriterTables::constant(std::span<const std::byte> elements) {
  ByteWriter entry;
  entry.varint(elements.size());
  entry.bytes(elements);
  return constants_.index(entry.data());
}

std::uint32_t WriterTables::find_or_append(TypeKind kind, ElementType element) {
  const auto same = [&](const Type& type) { return type.kind == kind && type.element == element; };
  const auto found = std::ranges::find_if(all_, same);
  const auto id = static_cast<std::uint32_t>(std::distance(all_.begin(), found));
  if (found == all_.end()) {
    Type& added = all_.emplace_back();
    added.kind = kind;
    added.element = element;
  }
  return id;
}

std::uint32_t WriterTables::element(ElementType type) {
  return find_or_append(TypeKind::element, type);
}

std::uint32_t WriterTables::pointer(ElementType pointee) {
  return find_or_append(TypeKind::pointer, pointee);
}

void WriterTables::add_type(const Type& type) {
  ByteWriter entry;
  const auto tag = [&](TypeTag value) { entry.varint(static_cast<std::uint64_t>(value)); };
  switch (type.kind) {
    case TypeKind::element:
      entry.varint(static_cast<std::uint64_t>(type.element));
      break;
    case TypeKind::pointer:
      tag(TypeTag::pointer);
      entry.varint(element(type.element));
      break;
    case TypeKind::tile:
      tag(TypeTag::tile);
      entry.varint(type.of_pointers ? pointer(type.element) : element(type.element));
      put_array(entry, type.shape, 8);
      break;
    case TypeKind::tensor_view:
      tag(TypeTag::tensor_view);
      entry.varint(element(type.element));
      put_array(entry, type.shape, 8);
      put_array(entry, type.strides, 8);
      break;
    case TypeKind::partition_view:
      tag(TypeTag::partition_view);
      add_view(entry, type);
      break;
    case TypeKind::strided_view:
      tag(TypeTag::strided_view);
      add_view(entry, type);
      break;
    case TypeKind::gather_scatter_view:
      tag(TypeTag::gather_scatter_view);
      add_view(entry, type);
      break;
    case TypeKind::function:
      tag(TypeTag::function);
      put_types(entry, type.inputs);
      put_types(entry, type.results);
      break;
    case TypeKind::token:
      tag(TypeTag::token);
      break;
  }
  types_.add(entry.data());
}

void WriterTables::add_view(ByteWriter& entry, const Type& type) const {
  const std::uint64_t padded = type.padding ? 1 : 0;
  const bool flags_first = minor_ >= 3;
  if (flags_first) entry.varint(padded);
  put_array(entry, type.shape, 4);
  if (type.kind == TypeKind::strided_view) put_array(entry, type.strides, 4);
  entry.varint(type.tensor_view);
  if (type.kind == TypeKind::gather_scatter_view) {
    entry.varint(static_cast<std::uint64_t>(type.sparse_dim));
  } else {
    put_array(entry, type.dim_map, 4);
  }
  if (!flags_first) entry.varint(padded);
  if (type.padding) entry.varint(static_cast<std::uint64_t>(*type.padding));
}

void WriterTables::add_debug(const DebugEntry& entry) {
  ByteWriter out;
  out.varint(static_cast<std::uint64_t>(entry.kind));
  switch (entry.kind) {
    case DebugKind::unknown:
      break;
    case DebugKind::compile_unit:
      out.varint(entry.other);
      break;
    case DebugKind::file:
      out.varint(string(entry.name));
      out.varint(string(entry.detail));
      break;
    case DebugKind::lexical_block:
      for (const std::uint32_t field : {entry.scope, entry.other, entry.line, entry.column}) out.varint(field);
      break;
    case DebugKind::location:
      for (const std::uint32_t field : {entry.scope, string(entry.name), entry.line, entry.column}) out.varint(field);
      break;
    case DebugKind::subprogram:
      for (const std::uint32_t field :
           {entry.other, entry.line, string(entry.name), string(entry.detail), entry.scope, entry.column}) {
        out.varint(field);
      }
      break;
    case DebugKind::call_site:
      for (const std::uint32_t field : {entry.scope, entry.other}) out.varint(field);
      break;
  }
  debug_.add(out.data());
}

}  // namespace tilegym::tile_ir
