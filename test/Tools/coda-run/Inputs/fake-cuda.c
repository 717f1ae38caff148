/*===- fake-cuda.c - a CUDA driver without a GPU
---------------------------===*\
|*
|* Part of the coda project, under the Apache License v2.0 with LLVM
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===-----------------------------------------------------------------------===*|
|*
|* A libcuda.so.1 whose device memory is host memory, so that what coda-run does
|* with a GPU can be tested without one. It counts what it hands out: destroying
|* the context with anything left prints a line. FAKE chooses what is wrong:
|*   1 no device      2 a function is missing      3 the program faults
|*
\*===-----------------------------------------------------------------------===*/

#include "coda/Runtime/CudaDriver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef FAKE
#define FAKE 0
#endif

static int alive;

/* Every function of the table exists; those that have no body below answer
   "not supported". */
#define DECLARE(name, symbol, parameters)                                      \
  CUresult fake##name parameters __asm__(symbol);
CODA_CUDA_FUNCTIONS(DECLARE)

#define UNSUPPORTED(name, parameters)                                          \
  CUresult fake##name parameters { return 801; }
/* clang-format off */
UNSUPPORTED(DriverGetVersion, (int32_t *v))
UNSUPPORTED(DeviceGetName, (char *n, int32_t l, CUdevice d))
UNSUPPORTED(DeviceGetAttribute, (int32_t *v, int32_t a, CUdevice d))
UNSUPPORTED(CtxGetCurrent, (CUcontext *c))
UNSUPPORTED(CtxPushCurrent, (CUcontext c))
UNSUPPORTED(CtxPopCurrent, (CUcontext *c))
UNSUPPORTED(CtxGetDevice, (CUdevice *d))
UNSUPPORTED(ModuleLoadData, (CUmodule *m, const void *i))
UNSUPPORTED(ModuleLoadDataEx, (CUmodule *m, const void *i, uint32_t n, int32_t *o, void **v))
UNSUPPORTED(ModuleUnload, (CUmodule m))
UNSUPPORTED(ModuleGetFunction, (CUfunction *f, CUmodule m, const char *n))
UNSUPPORTED(FuncSetAttribute, (CUfunction f, int32_t a, int32_t v))
UNSUPPORTED(FuncGetAttribute, (int32_t *v, int32_t a, CUfunction f))
UNSUPPORTED(LaunchKernelEx, (const CUlaunchConfig *c, CUfunction f, void **p, void **e))
UNSUPPORTED(OccupancyMaxActiveClusters, (int32_t *n, CUfunction f, const CUlaunchConfig *c))
#if FAKE != 2
UNSUPPORTED(TensorMapEncodeTiled, (CUtensorMap *m, int32_t t, uint32_t r, void *a, const uint64_t *d, const uint64_t *s, const uint32_t *b, const uint32_t *e, int32_t i, int32_t w, int32_t l, int32_t o))
#endif
UNSUPPORTED(MemcpyHtoD, (CUdeviceptr t, const void *f, size_t n))
UNSUPPORTED(MemcpyDtoH, (void *t, CUdeviceptr f, size_t n))
UNSUPPORTED(MemcpyDtoDAsync, (CUdeviceptr t, CUdeviceptr f, size_t n, CUstream s))
UNSUPPORTED(MemsetD8Async, (CUdeviceptr p, uint8_t v, size_t n, CUstream s))
UNSUPPORTED(EventSynchronize, (CUevent e))
/* clang-format on */

CUresult fakeInit(uint32_t flags) { return FAKE == 1 ? 100 : 0; }
CUresult fakeGetErrorName(CUresult error, const char **text) {
  *text = error == 100 ? "CUDA_ERROR_NO_DEVICE" : "CUDA_ERROR_ILLEGAL_ADDRESS";
  return 0;
}
CUresult fakeGetErrorString(CUresult error, const char **text) {
  *text = error == 100 ? "no CUDA-capable device is detected"
                       : "an illegal memory access was encountered";
  return 0;
}
CUresult fakeDeviceGetCount(int32_t *count) {
  *count = 1;
  return 0;
}
CUresult fakeDeviceGet(CUdevice *device, int32_t ordinal) {
  *device = ordinal + 40;
  return 0;
}
CUresult fakeDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  *context = (CUcontext)&alive;
  return device == 40 ? 0 : 101;
}
CUresult fakeDevicePrimaryCtxRelease(CUdevice device) {
  if (alive || device != 40)
    printf("fake driver: %d allocations left\n", alive);
  else
    printf("fake driver: all released\n");
  return 0;
}
CUresult fakeCtxSetCurrent(CUcontext context) { return 0; }

static void *get(size_t bytes) {
  ++alive;
  return aligned_alloc(256, (bytes + 255) / 256 * 256);
}
static void put(void *pointer) {
  --alive;
  free(pointer);
}
CUresult fakeMemAlloc(CUdeviceptr *pointer, size_t bytes) {
  *pointer = (CUdeviceptr)(uintptr_t)get(bytes);
  return 0;
}
CUresult fakeMemFree(CUdeviceptr pointer) {
  put((void *)(uintptr_t)pointer);
  return 0;
}
CUresult fakeStreamCreate(CUstream *stream, uint32_t flags) {
  *stream = get(1);
  return 0;
}
CUresult fakeStreamDestroy(CUstream stream) {
  put(stream);
  return 0;
}
CUresult fakeEventCreate(CUevent *event, uint32_t flags) {
  *event = get(1);
  return 0;
}
CUresult fakeEventDestroy(CUevent event) {
  put(event);
  return 0;
}
CUresult fakeMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes,
                             CUstream stream) {
  memcpy((void *)(uintptr_t)to, from, bytes);
  return stream ? 0 : 400;
}
CUresult fakeMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes,
                             CUstream stream) {
  memcpy(to, (void *)(uintptr_t)from, bytes);
  return stream ? 0 : 400;
}
static int recorded;
CUresult fakeEventRecord(CUevent event, CUstream stream) {
  ++recorded;
  return 0;
}
CUresult fakeStreamSynchronize(CUstream stream) {
  return FAKE == 3 && recorded == 2 ? 700 : 0;
}
CUresult fakeEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
  *milliseconds = 2.5f;
  return start != end ? 0 : 400;
}
