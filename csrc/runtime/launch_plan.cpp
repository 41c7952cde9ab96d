#include "runtime/launch_plan.h"

#include <algorithm>

#include "runtime/dtype.h"

namespace tilegym::runtime {
namespace {

bool is_empty(const TensorDesc& desc) noexcept {
  return std::any_of(desc.shape.begin(), desc.shape.begin() + desc.ndim, [](auto extent) { return extent == 0; });
}

/// Address past the last element, which the marshalling has bounded: extents and strides are 32-bit and not negative.
std::uint64_t end_of(const TensorDesc& desc) noexcept {
  std::uint64_t last = 0;
  for (int dim = 0; dim < desc.ndim; ++dim) {
    last += static_cast<std::uint64_t>((desc.shape[dim] - 1) * desc.strides[dim]);
  }
  return desc.ptr + (last + 1) * dtype_bytes(static_cast<DType>(desc.dtype));
}

/// The tensor that `desc` is a view of; none where it has no elements. Where several share the memory any of them will
/// do: calls of one key keep the distances between them.
std::optional<std::size_t> origin_of(const TensorDesc& desc, std::span<const MemorySpan> memory) noexcept {
  if (is_empty(desc)) return std::nullopt;
  const std::uint64_t end = end_of(desc);
  const auto holds = [&](const MemorySpan& span) { return span.first <= desc.ptr && end <= span.end; };
  const auto found = std::ranges::find_if(memory, holds);
  if (found == memory.end()) return std::nullopt;
  return static_cast<std::size_t>(found - memory.begin());
}

}  // namespace

std::optional<LaunchPlan> LaunchPlan::of(const OpCall& call, std::span<const MemorySpan> memory) {
  LaunchPlan plan(call.op(), call.device());
  plan.arguments_.assign(call.arguments().begin(), call.arguments().end());
  for (std::size_t param = 0; param < call.op().param_count; ++param) {
    const ParamKind kind = call.op().params[param].kind;
    if (kind == ParamKind::stream) plan.stream_param_ = param;
    if (kind != ParamKind::tensor) continue;
    const TensorDesc& desc = *call.arguments()[param].tensor;
    const auto origin = origin_of(desc, memory);
    if (!origin && !is_empty(desc)) return std::nullopt;
    plan.views_.push_back({param, origin, origin ? desc.ptr - memory[*origin].address : 0, desc});
  }
  return plan;
}

std::int32_t LaunchPlan::launch(std::span<const std::uint64_t> addresses, std::uint64_t stream) const noexcept {
  std::array<Arg, kMaxParams> arguments;
  DescriptorRoom descriptors;
  std::ranges::copy(arguments_, arguments.begin());
  for (std::size_t i = 0; i < views_.size(); ++i) {
    const View& view = views_[i];
    TensorDesc* desc = std::construct_at(&descriptors.rows[i], view.desc);
    if (view.tensor) desc->ptr = addresses[*view.tensor] + view.offset;
    arguments[view.param].tensor = desc;
  }
  if (stream_param_) arguments[*stream_param_].stream = stream;
  return op_->packed(arguments.data(), op_->param_count);
}

}  // namespace tilegym::runtime
