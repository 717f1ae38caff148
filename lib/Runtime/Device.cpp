//===- Device.cpp - memory and time of a device ---------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coda/Runtime/Device.h"

#include "coda/Runtime/CudaDriver.h"

#include <cstdlib>
#include <cstring>
#include <ctime>

namespace mlir::coda::runtime {

Device::~Device() = default;

namespace {

/// Time that this thread has run: programs run on the thread that calls them,
/// and what else the machine does is not theirs.
double threadSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

class HostDevice : public Device {
public:
  DLDevice location() const override { return {kDLCPU, 0}; }
  void *stream() const override { return nullptr; }
  Result<void *> allocate(size_t bytes) override {
    // aligned_alloc wants a multiple of the alignment.
    if (void *pointer = std::aligned_alloc(256, (bytes + 256) / 256 * 256))
      return pointer;
    return Failure{"out of memory: cannot allocate " + std::to_string(bytes) +
                   " bytes"};
  }
  void release(void *pointer) override { std::free(pointer); }
  Status upload(void *to, const void *from, size_t bytes) override {
    if (bytes)
      std::memcpy(to, from, bytes);
    return {};
  }
  Status download(void *to, const void *from, size_t bytes) override {
    return upload(to, from, bytes);
  }
  Result<double> time(const std::function<void()> &call) override {
    double start = threadSeconds();
    call();
    return threadSeconds() - start;
  }
};

class CudaDevice : public Device {
public:
  ~CudaDevice() override {
    if (start)
      driver.EventDestroy(start);
    if (end)
      driver.EventDestroy(end);
    if (queue)
      driver.StreamDestroy(queue);
    if (context) {
      driver.CtxSetCurrent(nullptr);
      driver.DevicePrimaryCtxRelease(device);
    }
  }

  Status open(int32_t wanted) {
    char text[512];
    if (coda_cuda_load(&driver, text, sizeof(text)) != 0)
      return Failure{text};
    ordinal = wanted;
    int32_t count = 0;
    if (Status status = check(driver.DeviceGetCount(&count), "count the GPUs");
        !status.ok())
      return status;
    if (wanted < 0 || wanted >= count)
      return Failure{"no GPU " + std::to_string(wanted) + ": the driver has " +
                     std::to_string(count)};
    CUresult status = driver.DeviceGet(&device, wanted);
    if (status == 0)
      status = driver.DevicePrimaryCtxRetain(&context, device);
    if (status == 0)
      status = driver.CtxSetCurrent(context);
    if (status == 0)
      status = driver.StreamCreate(&queue, CU_STREAM_NON_BLOCKING);
    if (status == 0)
      status = driver.EventCreate(&start, 0);
    if (status == 0)
      status = driver.EventCreate(&end, 0);
    return check(status, "open GPU " + std::to_string(wanted));
  }

  DLDevice location() const override { return {kDLCUDA, ordinal}; }
  void *stream() const override { return queue; }
  Result<void *> allocate(size_t bytes) override {
    CUdeviceptr pointer = 0;
    Status status = check(driver.MemAlloc(&pointer, bytes ? bytes : 1),
                          "allocate " + std::to_string(bytes) + " bytes");
    if (!status.ok())
      return status.error();
    return reinterpret_cast<void *>(static_cast<uintptr_t>(pointer));
  }
  void release(void *pointer) override { driver.MemFree(address(pointer)); }
  Status upload(void *to, const void *from, size_t bytes) override {
    // On the stream that the program runs on: a copy on the default stream may
    // still be under way when another stream goes on.
    CUresult status = 0;
    if (bytes)
      status = driver.MemcpyHtoDAsync(address(to), from, bytes, queue);
    if (status == 0)
      status = driver.StreamSynchronize(queue);
    return check(status, "copy to the GPU");
  }
  Status download(void *to, const void *from, size_t bytes) override {
    CUresult status = 0;
    if (bytes)
      status = driver.MemcpyDtoHAsync(to, address(from), bytes, queue);
    if (status == 0)
      status = driver.StreamSynchronize(queue);
    return check(status, "copy from the GPU");
  }
  Result<double> time(const std::function<void()> &call) override {
    CUresult status = driver.EventRecord(start, queue);
    call();
    if (status == 0)
      status = driver.EventRecord(end, queue);
    if (status == 0)
      status = driver.StreamSynchronize(queue);
    float milliseconds = 0;
    if (status == 0)
      status = driver.EventElapsedTime(&milliseconds, start, end);
    Status checked = check(status, "run the program");
    if (!checked.ok())
      return checked.error();
    return milliseconds * 1e-3;
  }

private:
  static CUdeviceptr address(const void *pointer) {
    return static_cast<CUdeviceptr>(reinterpret_cast<uintptr_t>(pointer));
  }
  Status check(CUresult status, const std::string &what) const {
    if (status == 0)
      return {};
    char text[256];
    coda_cuda_describe(&driver, status, text, sizeof(text));
    return Failure{"cannot " + what + ": " + text};
  }

  coda_cuda_driver driver = {};
  int32_t ordinal = 0;
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUstream queue = nullptr;
  CUevent start = nullptr, end = nullptr;
};

} // namespace

std::unique_ptr<Device> createHostDevice() {
  return std::make_unique<HostDevice>();
}

Result<std::unique_ptr<Device>> createCudaDevice(int32_t ordinal) {
  auto device = std::make_unique<CudaDevice>();
  if (Status status = device->open(ordinal); !status.ok())
    return status.error();
  return Result<std::unique_ptr<Device>>(std::move(device));
}

} // namespace mlir::coda::runtime
