#pragma once

/// The driver API as cuda.h declares it, every version of every function under its exported name, with the visibility
/// that puts our definitions into the shared library's export list.
#define __CUDA_API_VERSION_INTERNAL  // NOLINT(bugprone-reserved-identifier): the header's own switch
#pragma GCC visibility push(default)
#include <cuda.h>
#if CUDA_VERSION < 13010
// Programs built with newer headers than ours ask for these.
extern "C" CUresult CUDAAPI cuLaunchHostFunc_v2(CUstream stream, CUhostFn function, void* data, unsigned mode);
extern "C" CUresult CUDAAPI cuLaunchHostFunc_v2_ptsz(CUstream stream, CUhostFn function, void* data, unsigned mode);
#endif
#pragma GCC visibility pop

/// Exports `function` of this source file under a second name with the same interface.
#define TILEGYM_CU_ALIAS(name, function) decltype(function) name __attribute__((alias(#function)))
