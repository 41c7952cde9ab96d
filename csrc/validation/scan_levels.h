#pragma once

// Every header that the scans need, read before an instruction set is switched on: an inline function of the standard
// library compiled inside such a region could become the copy that the whole program links.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "validation/scan.h"

// g++ only, because the regions rely on its target pragma.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__)
#include <immintrin.h>
#define TILEGYM_SCAN_LEVELS 1
#else
#define TILEGYM_SCAN_LEVELS 0
#endif

namespace tilegym::validation {

/// Storage of f16 and bf16.
struct Half {
  std::uint16_t bits;
};
struct Brain {
  std::uint16_t bits;
};

/// A vector of T; an attribute on an alias of a dependent type would be lost.
template <class T, int kBytes>
struct VectorOf {
  typedef T type __attribute__((vector_size(kBytes)));  // NOLINT(modernize-use-using)
};
template <class T, int kBytes>
using Vector = typename VectorOf<T, kBytes>::type;

namespace plain {
ScanFn find_scan(ElementType actual, ElementType expected) noexcept;
}
#if TILEGYM_SCAN_LEVELS
namespace avx2 {
ScanFn find_scan(ElementType actual, ElementType expected) noexcept;
}
namespace avx512 {
ScanFn find_scan(ElementType actual, ElementType expected) noexcept;
}
#endif

}  // namespace tilegym::validation
