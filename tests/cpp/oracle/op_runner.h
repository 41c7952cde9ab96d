#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <initializer_list>
#include <map>
#include <string>

#include "runtime/dlpack.h"
#include "runtime/kernel_library.h"
#include "validation/compare.h"

namespace tilegym::oracle {

/// The kernel library named by TILEGYM_TEST_KERNELS on the CPU device, or null where the variable is unset. A library
/// that cannot be loaded ends the tests.
runtime::KernelLibrary* kernel_library();

/// The DLPack view of a tensor, as torch exports it.
runtime::dlpack::Tensor borrow(const at::Tensor& tensor);

/// Calls an op with tensors in the order of its parameters and scalars by name; the rest take their defaults. Returns
/// the error text, empty for success.
std::string call(const std::string& op, std::initializer_list<at::Tensor> tensors,
                 const std::map<std::string, std::int64_t>& scalars);

/// A sentence on how `actual` differs from `expected`, empty where it does not.
std::string difference(const at::Tensor& actual, const at::Tensor& expected, double rtol, double atol);

}  // namespace tilegym::oracle
