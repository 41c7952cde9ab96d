#include "runtime/dtype.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace tilegym::runtime {
namespace {

using dlpack::DataType;
using dlpack::TypeCode;

struct TypeRow {
  DataType type;
  std::string_view name;
  std::optional<DType> dtype;
};

// The first row of a code names it. Types without a code are listed for the sake of error texts.
constexpr TypeRow kTypes[] = {
    {{TypeCode::floating, 32, 1}, "float32", DType::f32},
    {{TypeCode::floating, 16, 1}, "float16", DType::f16},
    {{TypeCode::bfloat, 16, 1}, "bfloat16", DType::bf16},
    {{TypeCode::integer, 32, 1}, "int32", DType::i32},
    {{TypeCode::integer, 64, 1}, "int64", DType::i64},
    {{TypeCode::float8_e5m2, 8, 1}, "float8_e5m2", DType::f8e5m2},
    {{TypeCode::float8_e4m3fn, 8, 1}, "float8_e4m3fn", DType::f8e4m3fn},
    {{TypeCode::unsigned_integer, 8, 1}, "uint8", DType::f4e2m1x2},
    {{TypeCode::float4_e2m1fn, 4, 2}, "float4_e2m1fn_x2", DType::f4e2m1x2},
    {{TypeCode::floating, 64, 1}, "float64", {}},
    {{TypeCode::boolean, 8, 1}, "bool", {}},
    {{TypeCode::integer, 8, 1}, "int8", {}},
    {{TypeCode::integer, 16, 1}, "int16", {}},
    {{TypeCode::unsigned_integer, 16, 1}, "uint16", {}},
    {{TypeCode::unsigned_integer, 32, 1}, "uint32", {}},
    {{TypeCode::unsigned_integer, 64, 1}, "uint64", {}},
    {{TypeCode::complex, 32, 1}, "complex32", {}},
    {{TypeCode::complex, 64, 1}, "complex64", {}},
    {{TypeCode::complex, 128, 1}, "complex128", {}},
    {{TypeCode::float8_e4m3fnuz, 8, 1}, "float8_e4m3fnuz", {}},
    {{TypeCode::float8_e5m2fnuz, 8, 1}, "float8_e5m2fnuz", {}},
    {{TypeCode::float8_e8m0fnu, 8, 1}, "float8_e8m0fnu", {}},
};

}  // namespace

std::optional<DType> dtype_of(DataType type) noexcept {
  const auto* row = std::ranges::find(kTypes, type, &TypeRow::type);
  return row == std::end(kTypes) ? std::nullopt : row->dtype;
}

std::string dtype_name(DataType type) {
  const auto* row = std::ranges::find(kTypes, type, &TypeRow::type);
  if (row != std::end(kTypes)) return std::string(row->name);
  return fmt::format("DLPack type code {} with {} bits and {} lanes", static_cast<int>(type.code), type.bits,
                     type.lanes);
}

std::string dtype_name(DType type) {
  const auto* row = std::ranges::find(kTypes, std::optional<DType>(type), &TypeRow::dtype);
  return row == std::end(kTypes) ? fmt::format("dtype code {}", static_cast<int>(type)) : std::string(row->name);
}

std::size_t dtype_bytes(DType type) noexcept {
  const auto* row = std::ranges::find(kTypes, std::optional<DType>(type), &TypeRow::dtype);
  return row == std::end(kTypes) ? 1 : std::max<std::size_t>(row->type.bits * row->type.lanes / 8, 1);
}

std::string dtype_mask_text(std::uint32_t mask) {
  std::vector<std::string> names;
  for (int code = 0; code < 32; ++code) {
    if ((mask >> code & 1U) != 0) names.push_back(dtype_name(static_cast<DType>(code)));
  }
  if (names.empty()) return "none";
  std::string last = std::move(names.back());
  names.pop_back();
  return names.empty() ? last : fmt::format("{} or {}", fmt::join(names, ", "), last);
}

}  // namespace tilegym::runtime
