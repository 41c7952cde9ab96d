#include "validation/device/kernels.h"
