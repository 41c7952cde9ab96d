#include "validation/cuda_queue.h"

#include <cuda.h>
#include <dlfcn.h>

#include <map>
#include <mutex>
#include <string>

namespace tilegym::validation {
namespace {

/// The driver's entry points, by the names of the versions that cuda.h declares.
struct Driver {
  decltype(&cuGetErrorString) error_string;
  decltype(&cuDeviceGet) device_get;
  decltype(&cuDeviceGetAttribute) device_attribute;
  decltype(&cuDevicePrimaryCtxRetain) context_retain;
  decltype(&cuCtxPushCurrent) context_push;
  decltype(&cuCtxPopCurrent) context_pop;
  decltype(&cuModuleLoadData) module_load;
  decltype(&cuModuleGetFunction) module_function;
  decltype(&cuMemsetD8Async) memset;
  decltype(&cuMemcpyHtoDAsync) copy_in;
  decltype(&cuMemcpyDtoHAsync) copy_out;
  decltype(&cuStreamSynchronize) synchronize;
  decltype(&cuLaunchKernel) launch;
};

Result<Driver> find_driver() {
  // Only what is there: a driver of its own choice would have contexts of its own.
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return Error{"compare: wanted the CUDA driver of this process, got none; use CPU tensors"};
  Driver driver{};
  std::string missing;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (function == nullptr && missing.empty()) missing = name;
  };
  find(driver.error_string, "cuGetErrorString");
  find(driver.device_get, "cuDeviceGet");
  find(driver.device_attribute, "cuDeviceGetAttribute");
  find(driver.context_retain, "cuDevicePrimaryCtxRetain");
  find(driver.context_push, "cuCtxPushCurrent_v2");
  find(driver.context_pop, "cuCtxPopCurrent_v2");
  find(driver.module_load, "cuModuleLoadData");
  find(driver.module_function, "cuModuleGetFunction");
  find(driver.memset, "cuMemsetD8Async");
  find(driver.copy_in, "cuMemcpyHtoDAsync_v2");
  find(driver.copy_out, "cuMemcpyDtoHAsync_v2");
  find(driver.synchronize, "cuStreamSynchronize");
  find(driver.launch, "cuLaunchKernel");
  if (!missing.empty()) return Error{"compare: wanted " + missing + " in the CUDA driver, got none; update it"};
  return driver;
}

Status check(const Driver& driver, CUresult result, const std::string& what) {
  if (result == CUDA_SUCCESS) return {};
  const char* text = nullptr;
  driver.error_string(result, &text);
  return Error{"compare: " + what + ": the CUDA driver says " + (text != nullptr ? text : "an unknown error") + " (" +
               std::to_string(static_cast<int>(result)) + ")"};
}

/// A device with the kernels on it; both stay.
struct Loaded {
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  int multiprocessors = 1;
};

Result<Loaded> load(const Driver& driver, std::span<const std::byte> image, int ordinal) {
  static std::mutex mutex;
  static std::map<int, Loaded> devices;
  const std::lock_guard lock(mutex);
  if (const auto known = devices.find(ordinal); known != devices.end()) return known->second;
  Loaded loaded;
  CUdevice device = 0;
  TILEGYM_TRY(check(driver, driver.device_get(&device, ordinal), "device " + std::to_string(ordinal)));
  TILEGYM_TRY(check(driver, driver.context_retain(&loaded.context, device), "its context"));
  TILEGYM_TRY(check(driver,
                    driver.device_attribute(&loaded.multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device),
                    "its multiprocessors"));
  TILEGYM_TRY(check(driver, driver.context_push(loaded.context), "its context"));
  const CUresult result = driver.module_load(&loaded.module, image.data());
  CUcontext popped = nullptr;
  driver.context_pop(&popped);
  TILEGYM_TRY(check(driver, result, "loading the kernels"));
  return devices.emplace(ordinal, loaded).first->second;
}

class CudaQueue final : public device::Queue {
 public:
  CudaQueue(const Driver& driver, const Loaded& loaded, CUstream stream)
      : driver_(driver), loaded_(loaded), stream_(stream) {
    driver_.context_push(loaded_.context);
  }
  ~CudaQueue() override {
    CUcontext popped = nullptr;
    driver_.context_pop(&popped);
  }

  [[nodiscard]] int multiprocessors() const noexcept override { return loaded_.multiprocessors; }

  Status clear(void* device, std::size_t bytes) override {
    return check(driver_, driver_.memset(address(device), 0, bytes, stream_), "clearing the workspace");
  }
  Status write(void* device, const void* host, std::size_t bytes) override {
    return check(driver_, driver_.copy_in(address(device), host, bytes, stream_), "copying to the device");
  }
  Status read(void* host, const void* device, std::size_t bytes) override {
    TILEGYM_TRY(check(driver_, driver_.copy_out(host, address(device), bytes, stream_), "copying from the device"));
    return check(driver_, driver_.synchronize(stream_), "waiting for the device");
  }
  Status launch(const std::string& kernel, int thread_blocks, const device::Job& job) override {
    CUfunction function = nullptr;
    TILEGYM_TRY(check(driver_, driver_.module_function(&function, loaded_.module, kernel.c_str()), kernel));
    void* parameters[] = {const_cast<device::Job*>(&job)};
    constexpr unsigned kThreads = device::kLanes * device::kWarps;
    return check(driver_,
                 driver_.launch(function, static_cast<unsigned>(thread_blocks), 1, 1, kThreads, 1, 1, 0, stream_,
                                parameters, nullptr),
                 kernel);
  }

 private:
  static CUdeviceptr address(const void* device) { return reinterpret_cast<CUdeviceptr>(device); }

  const Driver driver_;
  const Loaded loaded_;
  CUstream stream_;
};

}  // namespace

Result<std::unique_ptr<device::Queue>> open_cuda_queue(std::span<const std::byte> image, int ordinal,
                                                       std::uintptr_t stream) {
  if (image.empty()) return Error{"compare: wanted kernels for CUDA tensors, got a build without nvcc"};
  static const Result<Driver> driver = find_driver();
  if (!driver) return driver.error();
  TILEGYM_ASSIGN(const Loaded loaded, load(driver.value(), image, ordinal));
  return std::unique_ptr<device::Queue>(
      std::make_unique<CudaQueue>(driver.value(), loaded, reinterpret_cast<CUstream>(stream)));
}

}  // namespace tilegym::validation
