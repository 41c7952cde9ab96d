#include "runtime/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace tilegym::runtime {
namespace {

Status check_equal(const std::string& path, std::string_view what, std::size_t wanted, std::size_t got) {
  if (wanted == got) return {};
  return Error{fmt::format("kernel library '{}': wanted {} {}, got {}; rebuild it from the sources of this version",
                           path, what, wanted, got)};
}

Error broken_op(const std::string& path, std::string_view op, std::string_view why) {
  return Error{fmt::format("kernel library '{}': op '{}' {}; correct its declaration and rebuild", path, op, why)};
}

Status check_op(const std::string& path, const OpRow& op) {
  if (op.name == nullptr || op.packed == nullptr) return broken_op(path, "?", "lacks a name or a function");
  const auto params = params_of(op);
  if (params.size() > kMaxParams) {
    return broken_op(path, op.name,
                     fmt::format("has {} parameters, at most {} can be passed", params.size(), kMaxParams));
  }
  if (std::ranges::any_of(params, [](const ParamRow& param) { return param.name == nullptr; })) {
    return broken_op(path, op.name, "has a parameter without a name");
  }
  const auto tensors = std::ranges::count(params, ParamKind::tensor, &ParamRow::kind);
  if (tensors <= static_cast<std::ptrdiff_t>(kMaxTensors)) return {};
  return broken_op(path, op.name, fmt::format("has {} tensors, at most {} can be passed", tensors, kMaxTensors));
}

std::string param_text(const ParamRow& param) {
  if (param.has_default == 0) return param.name;
  if (param.kind == ParamKind::f32) return fmt::format("{}={}", param.name, param.default_value.floating);
  return fmt::format("{}={}", param.name, param.default_value.integer);
}

}  // namespace

Status check_manifest(const Manifest& manifest, const std::string& path) {
  TILEGYM_TRY(check_equal(path, "ABI version", kAbiVersion, manifest.abi_version));
  TILEGYM_TRY(check_equal(path, "tensor descriptor size", sizeof(TensorDesc), manifest.tensor_desc_size));
  TILEGYM_TRY(check_equal(path, "maximal rank", kMaxRank, manifest.max_rank));
  for (const OpRow& op : ops_of(manifest)) TILEGYM_TRY(check_op(path, op));
  return {};
}

Status check_sources(const Manifest& manifest, const std::string& fingerprint, const std::string& path) {
  const std::string got = manifest.source_fingerprint == nullptr ? "" : manifest.source_fingerprint;
  if (fingerprint.empty() || fingerprint == got) return {};
  return Error{fmt::format(
      "kernel library '{}': wanted it made from the sources with fingerprint '{}', got '{}'; remove the file "
      "and build it again with tilegym-rs build",
      path, fingerprint, got)};
}

std::string signature_text(const OpRow& op) {
  std::vector<std::string> texts;
  for (const ParamRow& param : params_of(op)) {
    if (is_passed(param)) texts.push_back(param_text(param));
  }
  return fmt::format("{}({})", op.name, fmt::join(texts, ", "));
}

}  // namespace tilegym::runtime
