#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "runtime/host_table.h"
#include "runtime/kernel_library.h"

namespace tilegym::runtime {

/// Path of a library from fixtures.cmake.
inline std::string fake(const std::string& name) {
  return std::string(TILEGYM_FAKES) + "/" + name + ".so";
}

inline std::shared_ptr<KernelLibrary> load_fake() {
  auto library = KernelLibrary::load(fake("fake_kernels"), fake("fake_driver"), host_table());
  if (!library) throw std::runtime_error(library.error().message);
  return std::move(library).value();
}

}  // namespace tilegym::runtime
