#pragma once

// Every header that kernel sources need, read before an instruction set is switched on: an inline function of the
// standard library compiled inside a region could become the copy that the whole program links.
#include <immintrin.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "cpu_driver/kernels/level.h"
