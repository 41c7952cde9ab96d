#pragma once

#include <cstdint>
#include <string>

#include "runtime/kernel_abi.h"

/// The way from rooms' errors to Python exceptions. The classes KernelError and BuildError live in tilegym_rs.errors.
/// Everything here needs the GIL.
namespace tilegym::bindings {

[[noreturn]] void throw_kernel_error(const std::string& text);
[[noreturn]] void throw_build_error(const std::string& text);

/// Sets KernelError with the attributes op and code.
void set_kernel_error(const char* op, runtime::ReturnCode code, const std::string& text);

/// Sets the Python exception for an op that returned `code`: ValueError for bad arguments, KeyboardInterrupt for a
/// cancelled launch, else KernelError.
void set_call_error(const char* op, std::int32_t code, const std::string& reason);

}  // namespace tilegym::bindings
