#include <algorithm>
#include <string>

#include "tile_ir/verify_checks.h"

namespace tilegym::tile_ir {

namespace {

Type tile_of(const Type& view) {
  Type tile;
  tile.kind = TypeKind::tile;
  tile.element = view.element;
  tile.shape = view.shape;
  return tile;
}

bool is_tile_of(const Type& tile, const Type& view) {
  return tile.shape == view.shape && tile.element == view.element && !tile.of_pointers;
}

bool verify_count(const OpCheck& check, const Type& view, std::string_view what, std::size_t wanted, std::size_t got) {
  if (wanted == got) return true;
  check.fail({std::string(what), std::to_string(wanted) + " for " + text(check.module(), view), std::to_string(got),
              "give one for each dimension that is unknown or indexed"});
  return false;
}

/// The index tile of the gathered dimension has one row number for each row of the tile.
bool verify_gathered_index(const OpCheck& check, const Type& view, const GroupSpec& group, ValueId index) {
  const auto dim = static_cast<std::size_t>(view.sparse_dim);
  const Type& type = check.type(index);
  if (type.shape.size() == 1 && type.shape[0] == view.shape[dim]) return true;
  check.fail({operand_text(group, dim), "a tile of rank 1 with " + std::to_string(view.shape[dim]) + " row numbers",
              text(check, index), "give one row number for each row of the tile"});
  return false;
}

/// Indices are scalars of one type; a gathered dimension has a tile.
void verify_indices(const OpCheck& check, const Type& view, std::size_t group) {
  const GroupSpec& spec = check.spec.operands[group];
  const auto indices = check.op.group(group);
  if (indices.size() != view.shape.size()) {
    check.fail({"indices", std::to_string(view.shape.size()) + " for " + text(check.module(), view),
                std::to_string(indices.size()), "give one index a dimension"});
    return;
  }
  const ValueId* first = nullptr;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (view.kind == TypeKind::gather_scatter_view && i == static_cast<std::size_t>(view.sparse_dim)) {
      if (!verify_gathered_index(check, view, spec, indices[i])) return;
      continue;
    }
    if (!check.type(indices[i]).shape.empty()) {
      check.fail({operand_text(spec, i), "a tile of rank 0", text(check, indices[i]), "index the tile, not elements"});
      return;
    }
    if (first == nullptr) first = &indices[i];
    if (same_type(check.module(), check.type_id(*first), check.type_id(indices[i]))) continue;
    check.fail({operand_text(spec, i), text(check, *first) + " like the other indices", text(check, indices[i]),
                "convert the index"});
    return;
  }
}

void verify_tile(const OpCheck& check, const Type& view, const std::string& subject, const Type& tile) {
  if (is_tile_of(tile, view)) return;
  check.fail({subject, text(check.module(), tile_of(view)) + ", the tile of the view", text(check.module(), tile),
              "use the type of the view's tile"});
}

}  // namespace

void check_shape_results(OpCheck& check) {
  verify_count(check, check.operand(0), "results", check.operand(0).shape.size(), check.op.results.size());
}

void check_tensor_view(OpCheck& check) {
  const Type& tensor = check.result();
  if (check.operand(0).element != tensor.element) {
    check.fail({"operand 'base'", "a pointer to " + std::string(name(tensor.element)),
                text(check, check.op.operands[0]), "cast the pointer with ptr_to_ptr"});
  }
  const auto unknown = [](const auto& numbers) {
    return static_cast<std::size_t>(std::ranges::count(numbers, kDynamic));
  };
  if (!verify_count(check, tensor, "operands 'dynamic_shape'", unknown(tensor.shape), check.op.group(1).size())) return;
  if (!verify_count(check, tensor, "operands 'dynamic_strides'", unknown(tensor.strides), check.op.group(2).size()))
    return;
  const auto sizes = std::span(check.op.operands).subspan(1);
  for (const ValueId size : sizes) {
    if (same_type(check.module(), check.type_id(sizes[0]), check.type_id(size))) continue;
    check.fail({"operands 'dynamic_shape' and 'dynamic_strides'", text(check, sizes[0]) + " for all of them",
                text(check, size), "convert them to one type"});
    return;
  }
}

void check_view_load(OpCheck& check) {
  verify_tile(check, check.operand(0), result_text(check, 0), check.result());
  verify_indices(check, check.operand(0), 1);
}

void check_view_store(OpCheck& check) {
  verify_tile(check, check.operand(1), "operand 'tile'", check.operand(0));
  verify_indices(check, check.operand(1), 2);
}

void check_view_reduction(OpCheck& check) {
  const Type& view = check.operand(0);
  if (view.kind == TypeKind::gather_scatter_view) {
    check.fail({"operand 'view'", "a partition_view or strided_view", text(check.module(), view),
                "use atomic_rmw_tko for scattered elements"});
    return;
  }
  verify_tile(check, view, "operand 'value'", check.operand(2));
  verify_indices(check, view, 1);
}

void check_view_of_tensor(OpCheck& check) {
  const TypeId tensor = check.result().tensor_view;
  if (same_type(check.module(), tensor, check.type_id(check.op.operands[0]))) return;
  check.fail({"operand 'tensor_view'", text(check.module(), check.module().types[tensor]) + " of the result",
              text(check, check.op.operands[0]), "make the view of its own tensor_view"});
}

}  // namespace tilegym::tile_ir
