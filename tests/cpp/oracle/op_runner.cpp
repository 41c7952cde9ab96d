#include "oracle/op_runner.h"

#include <ATen/ATen.h>
#include <ATen/DLConvertor.h>

#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "runtime/host_table.h"
#include "runtime/manifest.h"
#include "runtime/op_call.h"

namespace tilegym::oracle {
namespace {

using runtime::KernelLibrary;
using runtime::OpCall;
using runtime::ParamKind;
namespace dlpack = runtime::dlpack;

std::shared_ptr<KernelLibrary> load() {
  const char* path = std::getenv("TILEGYM_TEST_KERNELS");
  if (path == nullptr) return nullptr;
  auto library = KernelLibrary::load(path, TILEGYM_STAND_IN, runtime::host_table());
  if (!library) throw std::runtime_error(library.error().message);
  return std::move(library).value();
}

validation::ElementType element_type(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kDouble:
      return validation::ElementType::f64;
    case at::kFloat:
      return validation::ElementType::f32;
    case at::kHalf:
      return validation::ElementType::f16;
    case at::kBFloat16:
      return validation::ElementType::bf16;
    default:
      throw std::invalid_argument("no element type for this tensor");
  }
}

validation::ArrayView view(const at::Tensor& tensor) {
  return {element_type(tensor),
          static_cast<const std::byte*>(tensor.data_ptr()),
          {tensor.sizes().data(), tensor.sizes().size()},
          {tensor.strides().data(), tensor.strides().size()}};
}

}  // namespace

KernelLibrary* kernel_library() {
  static const std::shared_ptr<KernelLibrary> library = load();
  return library.get();
}

dlpack::Tensor borrow(const at::Tensor& tensor) {
  const DLDataType type = at::getDLDataType(tensor);
  return {.data = tensor.data_ptr(),
          .device = {dlpack::DeviceType::cpu, 0},
          .ndim = static_cast<std::int32_t>(tensor.dim()),
          .dtype = {static_cast<dlpack::TypeCode>(type.code), type.bits, type.lanes},
          .shape = tensor.sizes().data(),
          .strides = tensor.strides().data(),
          .byte_offset = 0};
}

std::string call(const std::string& op, std::initializer_list<at::Tensor> tensors,
                 const std::map<std::string, std::int64_t>& scalars) {
  const runtime::OpRow& row = *kernel_library()->find(op).value();
  OpCall op_call(row);
  const at::Tensor* tensor = tensors.begin();
  for (std::size_t param = 0; param < row.param_count; ++param) {
    const runtime::ParamRow& wanted = row.params[param];
    if (!runtime::is_passed(wanted)) continue;
    const auto scalar = scalars.find(wanted.name);
    const Status status = wanted.kind == ParamKind::tensor ? op_call.set_tensor(param, borrow(*tensor++))
                          : scalar == scalars.end()        ? op_call.set_default(param)
                                                           : op_call.set_integer(param, scalar->second);
    if (!status) return status.error().message;
  }
  op_call.complete(0);
  const std::int32_t code = op_call.invoke();
  return code == 0 ? "" : "code " + std::to_string(code) + ": " + kernel_library()->last_error();
}

std::string difference(const at::Tensor& actual, const at::Tensor& expected, double rtol, double atol) {
  auto result = validation::compare(view(actual), view(expected), {.rtol = rtol, .atol = atol});
  if (!result) return result.error().message;
  const validation::Comparison& comparison = result.value();
  if (comparison.matches()) return "";
  std::ostringstream text;
  text << comparison.mismatches << " of " << comparison.elements
       << " differ, the first: " << comparison.first.front().actual << ", wanted " << comparison.first.front().expected
       << " at [";
  for (const std::int64_t position : comparison.first.front().index) text << position << ' ';
  text << "], largest error " << comparison.max_abs_error;
  return text.str();
}

}  // namespace tilegym::oracle
