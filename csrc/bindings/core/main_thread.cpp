#include "bindings/core/main_thread.h"

#include <pybind11/pybind11.h>

namespace tilegym::bindings {
namespace {

unsigned long main_thread = 0;

}  // namespace

void remember_main_thread() {
  const auto threading = pybind11::module_::import("threading");
  main_thread = threading.attr("main_thread")().attr("ident").cast<unsigned long>();
}

bool is_main_thread() noexcept {
  return PyThread_get_thread_ident() == main_thread;
}

}  // namespace tilegym::bindings
