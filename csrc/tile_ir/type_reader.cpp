#include "tile_ir/type_reader.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>

#include "tile_ir/byte_reader.h"

namespace tilegym::tile_ir {

namespace {

constexpr std::uint64_t kLastTag = 22;

std::uint8_t minor_since(std::uint64_t tag) {
  constexpr std::uint64_t kF8e8m0fnu = static_cast<std::uint64_t>(ElementType::f8e8m0fnu);
  return tag < kF8e8m0fnu ? 1 : tag == kF8e8m0fnu ? 2 : 3;
}

/// Reads one entry. References to other entries are kept as indices; `resolve` follows them when all are read, so
/// their order in the file does not matter.
class EntryReader {
 public:
  EntryReader(const Blob& blob, std::size_t type_count, Version version)

      : reader_(blob.bytes, blob.offset), start_(blob.offset), type_count_(type_count), version_(version) {}

  Result<Type> read() {
    TILEGYM_ASSIGN(const std::uint64_t tag, reader_.varint("type tag"));
    if (tag > kLastTag) return inconsistent("type tag", "0 to 22", tag);
    if (minor_since(tag) > version_.minor) {
      const std::string wanted = "one that version 13." + std::to_string(version_.minor) + " has";
      return inconsistent("type tag", wanted, tag);
    }
    Type type;
    TILEGYM_TRY(read_fields(static_cast<TypeTag>(tag), type));
    if (reader_.remaining() != 0) return inconsistent("type", "its end", std::string_view("more bytes"));
    return type;
  }

 private:
  /// An error about the type as a whole, at its first byte.
  template <class Got>
  Error inconsistent(const Subject& subject, std::string_view wanted, Got got) const {
    return malformed(subject, wanted, got, start_);
  }

  Status read_fields(TypeTag tag, Type& type) {
    switch (tag) {
      case TypeTag::pointer:
        return read_pointer(type);
      case TypeTag::tile:
        return read_tile(type);
      case TypeTag::tensor_view:
        return read_tensor_view(type);
      case TypeTag::partition_view:
        return read_view(TypeKind::partition_view, type);
      case TypeTag::strided_view:
        return read_view(TypeKind::strided_view, type);
      case TypeTag::gather_scatter_view:
        return read_view(TypeKind::gather_scatter_view, type);
      case TypeTag::function:
        return read_function(type);
      case TypeTag::token:
        type.kind = TypeKind::token;
        return {};
    }
    type.kind = TypeKind::element;
    type.element = static_cast<ElementType>(tag);
    return {};
  }

  Status read_pointer(Type& type) {
    type.kind = TypeKind::pointer;
    return read_reference(type);
  }

  Status read_tile(Type& type) {
    type.kind = TypeKind::tile;
    TILEGYM_TRY(read_reference(type));
    TILEGYM_TRY(read_array(8, "tile shape", type.shape));
    return check_tile_shape(type.shape);
  }

  Status read_tensor_view(Type& type) {
    type.kind = TypeKind::tensor_view;
    TILEGYM_TRY(read_reference(type));
    TILEGYM_TRY(read_array(8, "tensor view shape", type.shape));
    TILEGYM_TRY(check_extents(type.shape, "tensor view shape"));
    TILEGYM_TRY(read_array(8, "tensor view strides", type.strides));
    TILEGYM_TRY(check_extents(type.strides, "tensor view strides"));
    return check_rank(type.strides.size(), type.shape.size(), "tensor view strides");
  }

  Status read_view(TypeKind kind, Type& type) {
    type.kind = kind;
    // From 13.3 on optional fields are announced by a flags word, before by a byte in their place.
    std::uint64_t flags = 0;
    if (version_.minor >= 3) {
      TILEGYM_ASSIGN(flags, reader_.varint_up_to(1, "flags of view type"));
    }
    TILEGYM_TRY(read_array(4, "tile shape of view type", type.shape));
    TILEGYM_TRY(check_tile_shape(type.shape));
    if (kind == TypeKind::strided_view) {
      TILEGYM_TRY(read_array(4, "traversal strides", type.strides));
      TILEGYM_TRY(check_rank(type.strides.size(), type.shape.size(), "traversal strides"));
      TILEGYM_TRY(check_extents(type.strides, "traversal strides"));
    }
    TILEGYM_TRY(read_reference(type));
    TILEGYM_TRY(kind == TypeKind::gather_scatter_view ? read_sparse_dim(type) : read_dim_map(type));
    if (version_.minor < 3) {
      TILEGYM_ASSIGN(flags, reader_.varint_up_to(1, "padding flag of view type"));
    }
    return flags == 0 ? Status{} : read_padding(type);
  }

  Status read_sparse_dim(Type& type) {
    TILEGYM_ASSIGN(const std::uint32_t dim, reader_.index(type.shape.size(), "sparse dimension"));
    type.sparse_dim = static_cast<std::int32_t>(dim);
    return {};
  }

  Status read_dim_map(Type& type) {
    std::vector<std::int64_t> dims;
    TILEGYM_TRY(read_array(4, "dimension map", dims));
    TILEGYM_TRY(check_rank(dims.size(), type.shape.size(), "dimension map"));
    std::vector<bool> used(dims.size(), false);
    for (const std::int64_t dim : dims) {
      if (dim < 0 || dim >= std::ssize(dims) || used[static_cast<std::size_t>(dim)]) {
        return inconsistent("dimension map", "every tensor dimension once",
                            std::string_view("dimension " + std::to_string(dim)));
      }
      used[static_cast<std::size_t>(dim)] = true;
      type.dim_map.push_back(static_cast<std::int32_t>(dim));
    }
    return {};
  }

  Status read_padding(Type& type) {
    constexpr auto kLast = static_cast<std::uint64_t>(Padding::neg_inf);
    TILEGYM_ASSIGN(const std::uint64_t padding, reader_.varint_up_to(kLast, "padding value"));
    type.padding = static_cast<Padding>(padding);
    return {};
  }

  Status read_function(Type& type) {
    type.kind = TypeKind::function;
    TILEGYM_TRY(read_references("parameter types", type.inputs));
    return read_references("result types", type.results);
  }

  /// The one reference of pointers, tiles and views, kept in `tensor_view` until it is resolved.
  Status read_reference(Type& type) {
    TILEGYM_ASSIGN(type.tensor_view, reader_.index(type_count_, "type index in a type"));
    return {};
  }

  Status read_references(const char* what, std::vector<TypeId>& types) {
    TILEGYM_ASSIGN(const std::size_t count, reader_.count(1, Subject("number", what)));
    types.resize(count);
    for (TypeId& type : types) {
      TILEGYM_ASSIGN(type, reader_.index(type_count_, Subject("type index", what)));
    }
    return {};
  }

  Status read_array(std::size_t width, const char* what, std::vector<std::int64_t>& values) {
    TILEGYM_ASSIGN(const std::size_t count, reader_.count(width, what));
    values.resize(count);
    for (std::int64_t& value : values) {
      TILEGYM_ASSIGN(const std::uint64_t bits, reader_.fixed(width, what));
      value = width == 4 ? static_cast<std::int32_t>(bits) : static_cast<std::int64_t>(bits);
    }
    return {};
  }

  Status check_rank(std::size_t got, std::size_t wanted, const char* what) {
    if (got == wanted) return {};
    return inconsistent(Subject("rank", what), std::to_string(wanted), static_cast<std::uint64_t>(got));
  }

  Status check_extents(std::span<const std::int64_t> extents, const char* what) {
    for (const std::int64_t extent : extents) {
      if (extent <= 0 && extent != kDynamic) {
        return inconsistent(what, "positive numbers", std::string_view(std::to_string(extent)));
      }
    }
    return {};
  }

  Status check_tile_shape(std::span<const std::int64_t> shape) {
    std::int64_t elements = 1;
    for (const std::int64_t extent : shape) {
      if (extent <= 0 || !std::has_single_bit(static_cast<std::uint64_t>(extent))) {
        return inconsistent("tile shape", "powers of two", std::string_view(std::to_string(extent)));
      }
      if (elements > kMaxTileElements / extent) {
        return inconsistent("tile shape", "at most 16777216 elements", std::string_view("more"));
      }
      elements *= extent;
    }
    return {};
  }

  ByteReader reader_;
  std::size_t start_;
  std::size_t type_count_;
  Version version_;
};

bool accepts(TypeKind kind, TypeKind referred) {
  switch (kind) {
    case TypeKind::pointer:
    case TypeKind::tensor_view:
      return referred == TypeKind::element;
    case TypeKind::tile:
      return referred == TypeKind::element || referred == TypeKind::pointer;
    default:
      return referred == TypeKind::tensor_view;
  }
}

Status resolve(std::vector<Type>& types, TypeId id, std::size_t offset) {
  Type& type = types[id];
  const Type& referred = types[type.tensor_view];
  if (!accepts(type.kind, referred.kind)) {
    return malformed("type index in a type", "a type of the right kind", type.tensor_view, offset);
  }
  type.element = referred.element;
  type.of_pointers = referred.kind == TypeKind::pointer;
  if (referred.kind != TypeKind::tensor_view) {
    type.tensor_view = 0;
  } else if (referred.shape.size() != type.shape.size() || type.shape.empty()) {
    return malformed("rank of view type", std::to_string(referred.shape.size()) + " like its tensor, at least 1",
                     type.shape.size(), offset);
  }
  return {};
}

/// A function within a function would let a file of a few bytes refer to itself, or print as gigabytes.
Status check_signature(const std::vector<Type>& types, TypeId id, std::size_t offset) {
  for (const std::vector<TypeId>* references : {&types[id].inputs, &types[id].results}) {
    for (const TypeId reference : *references) {
      if (types[reference].kind != TypeKind::function) continue;
      return malformed("type index in a function type", "a type that is no function", reference, offset);
    }
  }
  return {};
}

/// Elements first, so that what a kind refers to is complete when its turn comes.
constexpr TypeKind kResolveOrder[] = {TypeKind::pointer,        TypeKind::tile,         TypeKind::tensor_view,
                                      TypeKind::partition_view, TypeKind::strided_view, TypeKind::gather_scatter_view};

}  // namespace

Result<std::vector<Type>> read_types(std::span<const Blob> entries, Version version) {
  std::vector<Type> types;
  types.reserve(entries.size());
  for (const Blob& entry : entries) {
    TILEGYM_ASSIGN(Type type, EntryReader(entry, entries.size(), version).read());
    types.push_back(std::move(type));
  }
  for (const TypeKind kind : kResolveOrder) {
    for (TypeId id = 0; id < types.size(); ++id) {
      if (types[id].kind == kind) TILEGYM_TRY(resolve(types, id, entries[id].offset));
    }
  }
  for (TypeId id = 0; id < types.size(); ++id) TILEGYM_TRY(check_signature(types, id, entries[id].offset));
  return types;
}

}  // namespace tilegym::tile_ir
