#include "runtime/op_call.h"

#include <fmt/format.h>

#include <limits>
#include <memory>

namespace tilegym::runtime {

Error OpCall::argument_error(std::size_t param, const std::string& text) const {
  return Error{fmt::format("{}(): argument '{}': {}", op_.name, op_.params[param].name, text)};
}

Status OpCall::join_device(std::size_t param, Device device) {
  if (!device_) {
    device_ = device;
    device_param_ = param;
  }
  if (*device_ == device) return {};
  return argument_error(param,
                        fmt::format("wanted a tensor on {}, where argument '{}' is, got one on {}; move one of them",
                                    device_text(*device_), op_.params[device_param_].name, device_text(device)));
}

Status OpCall::set_tensor(std::size_t param, const dlpack::Tensor& tensor) {
  auto device = device_of(tensor.device);
  if (!device) return argument_error(param, device.error().message);
  TILEGYM_TRY(join_device(param, *device));
  TensorDesc* desc = std::construct_at(&descriptors_.rows[tensors_++]);
  if (const Status described = describe_argument(op_.params[param], tensor, *desc); !described) {
    return argument_error(param, described.error().message);
  }
  arguments_[param].tensor = desc;
  return {};
}

Status OpCall::set_integer(std::size_t param, std::int64_t value) {
  using Limits = std::numeric_limits<std::int32_t>;
  if (op_.params[param].kind == ParamKind::i32 && (value < Limits::min() || value > Limits::max())) {
    return argument_error(param, fmt::format("wanted a 32-bit integer, got {}", value));
  }
  arguments_[param].integer = value;
  return {};
}

Status OpCall::set_floating(std::size_t param, double value) {
  arguments_[param].floating = value;
  return {};
}

Status OpCall::set_default(std::size_t param) {
  const ParamRow& row = op_.params[param];
  if (row.has_default == 0) {
    return argument_error(param, fmt::format("wanted a value, got none; call {}", signature_text(op_)));
  }
  arguments_[param] = row.default_value;
  return {};
}

void OpCall::complete(std::uint64_t stream) noexcept {
  for (std::size_t param = 0; param < op_.param_count; ++param) {
    if (op_.params[param].kind == ParamKind::device) arguments_[param].integer = device().ordinal;
    if (op_.params[param].kind == ParamKind::stream) arguments_[param].stream = stream;
  }
}

}  // namespace tilegym::runtime
