#include "common/check.h"

#include <cstdio>
#include <cstdlib>

namespace tilegym {

void fail_check(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "tilegym: internal check failed: %s (%s:%d). Please report this as a bug.\n", condition, file,
               line);
  std::abort();
}

}  // namespace tilegym
