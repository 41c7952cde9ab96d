#include "cpu_driver/api/cuda_api.h"

// Calls on a stream as programs built with a default stream a thread know them: stream 0 is the calling thread's own.

namespace {

CUstream own(CUstream stream) noexcept {
  return stream == nullptr ? CU_STREAM_PER_THREAD : stream;
}

}  // namespace

#define PER_THREAD(name, parameters, ...)   \
  CUresult CUDAAPI name##_ptsz parameters { \
    return name(__VA_ARGS__);               \
  }

extern "C" {

PER_THREAD(cuMemAllocAsync, (CUdeviceptr * out, size_t bytes, CUstream s), out, bytes, own(s))
PER_THREAD(cuMemAllocFromPoolAsync, (CUdeviceptr * out, size_t bytes, CUmemoryPool pool, CUstream s), out, bytes, pool,
           own(s))
PER_THREAD(cuMemFreeAsync, (CUdeviceptr address, CUstream s), address, own(s))
PER_THREAD(cuMemPrefetchAsync, (CUdeviceptr address, size_t bytes, CUdevice device, CUstream s), address, bytes, device,
           own(s))
PER_THREAD(cuMemPrefetchAsync_v2,
           (CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned flags, CUstream s), address, bytes,
           location, flags, own(s))
PER_THREAD(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream s), to, from, bytes, own(s))
PER_THREAD(cuMemcpyPeerAsync,
           (CUdeviceptr to, CUcontext first, CUdeviceptr from, CUcontext second, size_t bytes, CUstream s), to, first,
           from, second, bytes, own(s))
PER_THREAD(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void* from, size_t bytes, CUstream s), to, from, bytes, own(s))
PER_THREAD(cuMemcpyDtoHAsync_v2, (void* to, CUdeviceptr from, size_t bytes, CUstream s), to, from, bytes, own(s))
PER_THREAD(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream s), to, from, bytes, own(s))
PER_THREAD(cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D* copy, CUstream s), copy, own(s))
PER_THREAD(cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D* copy, CUstream s), copy, own(s))
PER_THREAD(cuMemsetD8Async, (CUdeviceptr to, unsigned char value, size_t count, CUstream s), to, value, count, own(s))
PER_THREAD(cuMemsetD16Async, (CUdeviceptr to, unsigned short value, size_t count, CUstream s), to, value, count, own(s))
PER_THREAD(cuMemsetD32Async, (CUdeviceptr to, unsigned value, size_t count, CUstream s), to, value, count, own(s))
PER_THREAD(cuMemsetD2D8Async,
           (CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height, CUstream s), to, pitch,
           value, width, height, own(s))
PER_THREAD(cuMemsetD2D16Async,
           (CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t height, CUstream s), to, pitch,
           value, width, height, own(s))
PER_THREAD(cuMemsetD2D32Async, (CUdeviceptr to, size_t pitch, unsigned value, size_t width, size_t height, CUstream s),
           to, pitch, value, width, height, own(s))

PER_THREAD(cuStreamSynchronize, (CUstream s), own(s))
PER_THREAD(cuStreamQuery, (CUstream s), own(s))
PER_THREAD(cuStreamWaitEvent, (CUstream s, CUevent event, unsigned flags), own(s), event, flags)
PER_THREAD(cuStreamGetCtx, (CUstream s, CUcontext* out), own(s), out)
PER_THREAD(cuStreamGetCtx_v2, (CUstream s, CUcontext* out, CUgreenCtx* green), own(s), out, green)
PER_THREAD(cuStreamGetDevice, (CUstream s, CUdevice* out), own(s), out)
PER_THREAD(cuStreamGetFlags, (CUstream s, unsigned* out), own(s), out)
PER_THREAD(cuStreamGetPriority, (CUstream s, int* out), own(s), out)
PER_THREAD(cuStreamGetId, (CUstream s, unsigned long long* out), own(s), out)
PER_THREAD(cuStreamAttachMemAsync, (CUstream s, CUdeviceptr address, size_t bytes, unsigned flags), own(s), address,
           bytes, flags)
PER_THREAD(cuStreamBeginCapture, (CUstream s), own(s))
PER_THREAD(cuStreamBeginCapture_v2, (CUstream s, CUstreamCaptureMode mode), own(s), mode)
PER_THREAD(cuStreamBeginCaptureToGraph,
           (CUstream s, CUgraph graph, const CUgraphNode* dependencies, const CUgraphEdgeData* edges, size_t count,
            CUstreamCaptureMode mode),
           own(s), graph, dependencies, edges, count, mode)
PER_THREAD(cuStreamEndCapture, (CUstream s, CUgraph* out), own(s), out)
PER_THREAD(cuStreamIsCapturing, (CUstream s, CUstreamCaptureStatus* out), own(s), out)
PER_THREAD(cuStreamGetCaptureInfo, (CUstream s, CUstreamCaptureStatus* status, cuuint64_t* id), own(s), status, id)
PER_THREAD(cuStreamGetCaptureInfo_v2,
           (CUstream s, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph, const CUgraphNode** dependencies,
            size_t* count),
           own(s), status, id, graph, dependencies, count)
PER_THREAD(cuStreamGetCaptureInfo_v3,
           (CUstream s, CUstreamCaptureStatus* status, cuuint64_t* id, CUgraph* graph, const CUgraphNode** dependencies,
            const CUgraphEdgeData** edges, size_t* count),
           own(s), status, id, graph, dependencies, edges, count)
PER_THREAD(cuStreamUpdateCaptureDependencies, (CUstream s, CUgraphNode* nodes, size_t count, unsigned flags), own(s),
           nodes, count, flags)
PER_THREAD(cuStreamUpdateCaptureDependencies_v2,
           (CUstream s, CUgraphNode* nodes, const CUgraphEdgeData* edges, size_t count, unsigned flags), own(s), nodes,
           edges, count, flags)

PER_THREAD(cuEventRecord, (CUevent event, CUstream s), event, own(s))
PER_THREAD(cuEventRecordWithFlags, (CUevent event, CUstream s, unsigned flags), event, own(s), flags)

PER_THREAD(cuLaunchKernel,
           (CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
            unsigned block_z, unsigned shared_bytes, CUstream s, void** parameters, void** extra),
           function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, own(s), parameters, extra)
PER_THREAD(cuLaunchHostFunc, (CUstream s, CUhostFn function, void* data), own(s), function, data)
PER_THREAD(cuLaunchHostFunc_v2, (CUstream s, CUhostFn function, void* data, unsigned mode), own(s), function, data,
           mode)
PER_THREAD(cuGraphLaunch, (CUgraphExec exec, CUstream s), exec, own(s))
PER_THREAD(cuGraphUpload, (CUgraphExec exec, CUstream s), exec, own(s))
PER_THREAD(cuGraphInstantiateWithParams, (CUgraphExec * out, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* params), out,
           graph, params)

CUresult CUDAAPI cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, CUfunction function, void** parameters,
                                       void** extra) {
  if (config == nullptr) return cuLaunchKernelEx(nullptr, function, parameters, extra);
  CUlaunchConfig changed = *config;
  changed.hStream = own(config->hStream);
  return cuLaunchKernelEx(&changed, function, parameters, extra);
}

}  // extern "C"
