/*===- GPULaunch.c - Launches the kernels of an artifact -------------------===*\
|*
|* Part of the coda project, under the Apache License v2.0 with LLVM
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
\*===-----------------------------------------------------------------------===*/

#include "coda/Runtime/GPULaunch.h"
#include "coda/Runtime/CudaDriver.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Everything about the call in progress on this thread. */
static _Thread_local struct {
  coda_cuda_driver driver; /* filled once a thread */
  int loaded;
  int32_t device;
  CUstream stream;
  int32_t multiprocessors; /* of `device`; 0: not known yet */
  int32_t status;
  char error[512];
} call;

static void fail(int32_t status, const char *format, ...) {
  if (call.status)
    return; /* the first error is the one to report */
  call.status = status;
  va_list list;
  va_start(list, format);
  vsnprintf(call.error, sizeof(call.error), format, list);
  va_end(list);
}

static int check(CUresult result, const char *what) {
  if (result == 0)
    return 1;
  char text[256];
  coda_cuda_describe(&call.driver, result, text, sizeof(text));
  fail(CODA_ERROR_DEVICE, "%s: %s", what, text);
  return 0;
}

static int loadDriver(void) {
  if (call.loaded)
    return 1;
  char text[400];
  if (coda_cuda_load(&call.driver, text, sizeof(text))) {
    fail(CODA_ERROR_DEVICE, "%s", text);
    return 0;
  }
  call.loaded = 1;
  return 1;
}

const char *coda_gpu_last_error(void) { return call.error; }

/* Makes `device` the one of this thread's calls. */
static int useDevice(int32_t device) {
  if (!loadDriver())
    return 0;
  if (device < 0 || device >= CODA_GPU_MAX_DEVICES) {
    fail(CODA_ERROR_DEVICE, "device %d is not in 0 ... %d", device,
         CODA_GPU_MAX_DEVICES - 1);
    return 0;
  }
  if (call.multiprocessors && call.device == device)
    return 1;
  CUdevice handle;
  int32_t major = 0, minor = 0, count = 0;
  if (!check(call.driver.DeviceGet(&handle, device), "no such device") ||
      !check(call.driver.DeviceGetAttribute(
                 &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, handle),
             "device attribute") ||
      !check(call.driver.DeviceGetAttribute(
                 &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, handle),
             "device attribute") ||
      !check(call.driver.DeviceGetAttribute(
                 &count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, handle),
             "device attribute"))
    return 0;
  if (major != 9 || minor != 0) {
    fail(CODA_ERROR_DEVICE,
         "device %d has compute capability %d.%d; the kernels are for 9.0 "
         "(sm_90a)",
         device, major, minor);
    return 0;
  }
  call.device = device;
  call.multiprocessors = count;
  return 1;
}

int32_t coda_gpu_init(coda_gpu_kernel *const *kernels, int32_t count,
                      int32_t device) {
  call.status = CODA_OK;
  call.error[0] = 0;
  if (!useDevice(device))
    return call.status;
  CUdevice handle;
  CUcontext context, previous = NULL;
  if (!check(call.driver.DeviceGet(&handle, device), "no such device") ||
      !check(call.driver.DevicePrimaryCtxRetain(&context, handle),
             "context of the device") ||
      !check(call.driver.CtxPushCurrent(context), "context of the device"))
    return call.status;
  CUmodule module = NULL;
  const void *image = NULL;
  for (int32_t i = 0; i < count && !call.status; ++i) {
    coda_gpu_kernel *kernel = kernels[i];
    if (kernel->function[device])
      continue;
    CUfunction function;
    /* The kernels of an artifact share an image. */
    if (!module || kernel->image != image) {
      image = kernel->image;
      if (!check(call.driver.ModuleLoadData(&module, image), kernel->name))
        break;
    }
    if (!check(call.driver.ModuleGetFunction(&function, module, kernel->name),
               kernel->name) ||
        !check(call.driver.FuncSetAttribute(
                   function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                   kernel->sharedBytes),
               kernel->name))
      break;
    /* Two threads may both load; each stores a valid function. */
    __atomic_store_n(&kernel->function[device], (void *)function,
                     __ATOMIC_RELEASE);
  }
  call.driver.CtxPopCurrent(&previous);
  return call.status;
}

int32_t coda_gpu_begin(const coda_ctx *ctx) {
  call.status = CODA_OK;
  call.error[0] = 0;
  call.stream = ctx ? (CUstream)ctx->stream : NULL;
  useDevice(ctx ? ctx->device : 0);
  return call.status;
}

int32_t coda_gpu_end(void) { return call.status; }

void coda_gpu_extent(int64_t extent) {
  if (extent < 0 || extent > INT32_MAX)
    fail(CODA_ERROR_ARGUMENT, "an extent of %lld does not fit 31 bits",
         (long long)extent);
}

/* Stands for the address of an operand without elements. */
#define EMPTY_ADDRESS 4096

void coda_gpu_tensor_map(void *map, void *address, int32_t type, int32_t rank,
                         const int64_t *sizes, const int64_t *strides,
                         const int32_t *box) {
  uint64_t dims[5], bytes[5];
  uint32_t boxes[5], ones[5];
  int64_t width = type == CU_TENSOR_MAP_FLOAT32 ? 4 : 2;
  int32_t empty = 0;
  if (call.status)
    return;
  for (int32_t i = 0; i < rank; ++i)
    empty |= sizes[i] == 0;
  for (int32_t i = 0; i < rank; ++i) {
    int32_t from = rank - 1 - i; /* the driver counts from the innermost */
    if (empty) {
      /* The kernel reads nothing inside of it; the driver takes no 0. */
      dims[i] = 1;
      boxes[i] = (uint32_t)box[from];
      ones[i] = 1;
      if (i)
        bytes[i - 1] = 16;
      continue;
    }
    dims[i] = (uint64_t)sizes[from];
    boxes[i] = (uint32_t)box[from];
    ones[i] = 1;
    if (i == 0)
      continue;
    bytes[i - 1] = (uint64_t)(strides[from] * width);
    /* The stride of a dim of one element is never used. */
    if (sizes[from] == 1)
      bytes[i - 1] = (bytes[i - 1] + 15) / 16 * 16;
    if (bytes[i - 1] % 16) {
      fail(CODA_ERROR_ARGUMENT,
           "a row stride of %lld bytes is not a multiple of 16",
           (long long)bytes[i - 1]);
      return;
    }
  }
  if (empty)
    address = (void *)(uintptr_t)EMPTY_ADDRESS;
  if ((uintptr_t)address % 16) {
    fail(CODA_ERROR_ARGUMENT, "the address %p is not a multiple of 16", address);
    return;
  }
  check(call.driver.TensorMapEncodeTiled(
            (CUtensorMap *)map, type, (uint32_t)rank, address, dims, bytes,
            boxes, ones, CU_TENSOR_MAP_INTERLEAVE_NONE,
            CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_256B,
            CU_TENSOR_MAP_OOB_FILL_ZERO),
        "tensor map");
}

void coda_gpu_copy(void *to, const void *from, int64_t bytes) {
  if (call.status || bytes == 0)
    return;
  check(call.driver.MemcpyDtoDAsync((CUdeviceptr)(uintptr_t)to,
                                    (CUdeviceptr)(uintptr_t)from, (size_t)bytes,
                                    call.stream),
        "copy on the device");
}

/* Blocks per multiprocessor at most where a thread takes several points. */
#define BLOCKS_PER_MULTIPROCESSOR 16

static void launch(coda_gpu_kernel *kernel, int64_t blocks, void **parameters) {
  void *function =
      __atomic_load_n(&kernel->function[call.device], __ATOMIC_ACQUIRE);
  if (!function) {
    fail(CODA_ERROR_DEVICE,
         "kernel %s is not loaded on device %d; call coda_init first",
         kernel->name, call.device);
    return;
  }
  CUlaunchConfig config;
  memset(&config, 0, sizeof(config));
  config.gridDimX = (uint32_t)blocks;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = (uint32_t)kernel->threads;
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = (uint32_t)kernel->sharedBytes;
  config.hStream = call.stream;
  check(call.driver.LaunchKernelEx(&config, (CUfunction)function, parameters,
                                   NULL),
        kernel->name);
}

void coda_gpu_launch(coda_gpu_kernel *kernel, void **parameters) {
  if (!call.status)
    launch(kernel, call.multiprocessors, parameters);
}

void coda_gpu_launch_points(coda_gpu_kernel *kernel, int64_t points,
                            void **parameters) {
  int64_t blocks, most = (int64_t)call.multiprocessors * BLOCKS_PER_MULTIPROCESSOR;
  if (call.status || points <= 0)
    return;
  blocks = points / kernel->threads + (points % kernel->threads != 0);
  launch(kernel, blocks < most ? blocks : most, parameters);
}
