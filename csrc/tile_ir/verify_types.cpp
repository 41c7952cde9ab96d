#include <algorithm>
#include <string>
#include <vector>

#include "tile_ir/text.h"
#include "tile_ir/verify_context.h"

namespace tilegym::tile_ir {

namespace {

constexpr std::string_view kPaddings[] = {"zero", "neg_zero", "nan", "pos_inf", "neg_inf"};

bool same_fields(const Type& left, const Type& right) {
  return left.kind == right.kind && left.element == right.element && left.of_pointers == right.of_pointers &&
         left.shape == right.shape && left.strides == right.strides && left.dim_map == right.dim_map &&
         left.padding == right.padding && left.sparse_dim == right.sparse_dim;
}

bool same_lists(const Module& module, const std::vector<TypeId>& left, const std::vector<TypeId>& right) {
  return std::ranges::equal(left, right, [&](TypeId a, TypeId b) { return same_type(module, a, b); });
}

bool is_tile_view(const Type& type) {
  return type.kind == TypeKind::partition_view || type.kind == TypeKind::strided_view ||
         type.kind == TypeKind::gather_scatter_view;
}

/// What is wrong with a type in itself, or an empty finding.
Finding soundness(const Type& type) {
  const bool holds_pointee = type.of_pointers || type.kind == TypeKind::tensor_view;
  if (holds_pointee && type.element == ElementType::i4) {
    return {"", "memory of a type other than i4", "i4", "keep packed i4 in memory as i8 and unpack it"};
  }
  const bool is_tiled = type.is_tile() || is_tile_view(type);
  const bool is_even = std::ranges::any_of(type.shape, [](std::int64_t extent) { return extent % 2 == 0; });
  if (is_tiled && !type.of_pointers && type.element == ElementType::f4e2m1fn && !is_even) {
    return {"", "an even number of f4E2M1FN elements", "an odd one", "two elements share a byte: double an extent"};
  }
  if (type.padding && *type.padding != Padding::zero && !is_float(type.element)) {
    const std::string padding(kPaddings[static_cast<std::size_t>(*type.padding)]);
    return {"padding of ", "zero for " + std::string(name(type.element)), padding, "only floats have other paddings"};
  }
  return {};
}

class UsedTypes {
 public:
  explicit UsedTypes(const Module& module) : module_(module), used_(module.types.size(), false) {
    for (const Global& global : module.globals) mark(global.type);
    for (const Function& function : module.functions) {
      for (const TypeId type : module.types[function.type].results) mark(type);
      for (const TypeId type : function.values) mark(type);
    }
  }

  [[nodiscard]] bool contains(TypeId type) const { return used_[type]; }

 private:
  void mark(TypeId type) {
    used_[type] = true;
    if (is_tile_view(module_.types[type])) used_[module_.types[type].tensor_view] = true;
  }

  const Module& module_;
  std::vector<bool> used_;
};

}  // namespace

bool same_type(const Module& module, TypeId left, TypeId right) noexcept {
  if (left == right) return true;
  const Type& a = module.types[left];
  const Type& b = module.types[right];
  if (!same_fields(a, b)) return false;
  if (is_tile_view(a)) return same_fields(module.types[a.tensor_view], module.types[b.tensor_view]);
  return a.kind != TypeKind::function ||
         (same_lists(module, a.inputs, b.inputs) && same_lists(module, a.results, b.results));
}

std::string text(const Module& module, const Type& type) {
  std::string out;
  append_type(out, module, type);
  return out;
}

std::string text(std::span<const std::int64_t> shape) {
  std::string out;
  for (const std::int64_t extent : shape) out += (out.empty() ? "" : ", ") + std::to_string(extent);
  return "[" + out + "]";
}

void verify_types(const Module& module, Report& report) {
  const UsedTypes used(module);
  for (TypeId id = 0; id < module.types.size() && !report.full(); ++id) {
    if (!used.contains(id)) continue;
    Finding finding = soundness(module.types[id]);
    if (finding.wanted.empty()) continue;
    finding.subject += "type " + text(module, module.types[id]);
    report.add("module", "", 0, std::move(finding));
  }
}

}  // namespace tilegym::tile_ir
