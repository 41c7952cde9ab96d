#pragma once

#include <span>
#include <string>

#include "common/result.h"
#include "runtime/kernel_abi.h"

namespace tilegym::runtime {

inline constexpr const char* kManifestSymbol = "cutile_kernels_manifest_v1";
/// The most parameters an op may declare, device and stream included; a call's arguments lie on the stack.
inline constexpr std::size_t kMaxParams = 32;
inline constexpr std::size_t kMaxTensors = 16;

/// Whether this runtime can call the ops of a manifest: ABI version, descriptor layout, and each row complete and
/// within the limits above. `path` names the library in the error.
[[nodiscard]] Status check_manifest(const Manifest& manifest, const std::string& path);

/// Whether the library was made from the sources of that fingerprint; "" stands for any.
[[nodiscard]] Status check_sources(const Manifest& manifest, const std::string& fingerprint, const std::string& path);

[[nodiscard]] inline std::span<const OpRow> ops_of(const Manifest& manifest) {
  return {manifest.ops, manifest.op_count};
}
[[nodiscard]] inline std::span<const ParamRow> params_of(const OpRow& op) {
  return {op.params, op.param_count};
}

/// Whether callers pass the parameter; the runtime fills in device and stream.
[[nodiscard]] inline bool is_passed(const ParamRow& param) {
  return param.kind != ParamKind::device && param.kind != ParamKind::stream;
}

/// "softmax(out, x, block_size, num_cta_in_cga=-1)".
[[nodiscard]] std::string signature_text(const OpRow& op);

}  // namespace tilegym::runtime
