/*===- fake-gpu.c - CUDA devices that only say what they are asked ---------===*\
|*
|* Part of the coda project, under the Apache License v2.0 with LLVM
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===-----------------------------------------------------------------------===*|
|*
|* A libcuda.so.1 that prints what an artifact does with it, and runs no kernel.
|* Devices 0 and 1 are of compute capability 9.0, 2 is of 8.0, and 3 is of 9.0
|* with little shared memory; there is no 4. With -DNVTX it is a library of NVTX.
|*
\*===-----------------------------------------------------------------------===*/

#include <stdio.h>

#ifdef NVTX

int nvtxRangePushA(const char *name) { return printf("range %s {\n", name); }
int nvtxRangePop(void) { return printf("}\n"); }

#else

#include "coda/Runtime/CudaDriver.h"

#include <stdlib.h>
#include <string.h>

#define DECLARE(name, symbol, parameters)                                      \
  CUresult fake##name parameters __asm__(symbol);
CODA_CUDA_FUNCTIONS(DECLARE)

#define UNSUPPORTED(name, parameters)                                          \
  CUresult fake##name parameters { return 801; }
/* clang-format off */
UNSUPPORTED(DriverGetVersion, (int32_t *v))
UNSUPPORTED(DeviceGetName, (char *n, int32_t l, CUdevice d))
UNSUPPORTED(CtxGetDevice, (CUdevice *d))
UNSUPPORTED(CtxSetCurrent, (CUcontext c))
UNSUPPORTED(DevicePrimaryCtxRelease, (CUdevice d))
UNSUPPORTED(ModuleLoadDataEx, (CUmodule *m, const void *i, uint32_t n, int32_t *o, void **v))
UNSUPPORTED(ModuleUnload, (CUmodule m))
UNSUPPORTED(MemAlloc, (CUdeviceptr *p, size_t n))
UNSUPPORTED(MemFree, (CUdeviceptr p))
UNSUPPORTED(MemcpyHtoD, (CUdeviceptr t, const void *f, size_t n))
UNSUPPORTED(MemcpyDtoH, (void *t, CUdeviceptr f, size_t n))
UNSUPPORTED(MemcpyHtoDAsync, (CUdeviceptr t, const void *f, size_t n, CUstream s))
UNSUPPORTED(MemcpyDtoHAsync, (void *t, CUdeviceptr f, size_t n, CUstream s))
UNSUPPORTED(MemsetD8Async, (CUdeviceptr p, uint8_t v, size_t n, CUstream s))
UNSUPPORTED(StreamCreate, (CUstream *s, uint32_t f))
UNSUPPORTED(StreamDestroy, (CUstream s))
UNSUPPORTED(StreamSynchronize, (CUstream s))
UNSUPPORTED(EventCreate, (CUevent *e, uint32_t f))
UNSUPPORTED(EventDestroy, (CUevent e))
UNSUPPORTED(EventRecord, (CUevent e, CUstream s))
UNSUPPORTED(EventSynchronize, (CUevent e))
UNSUPPORTED(EventElapsedTime, (float *m, CUevent s, CUevent e))
/* clang-format on */

static char contexts[4];
static CUcontext current;

static int ordinalOf(const void *context) {
  return context ? (int)((const char *)context - contexts) : -1;
}

CUresult fakeInit(uint32_t flags) { return 0; }
CUresult fakeGetErrorName(CUresult error, const char **text) {
  *text = "CUDA_ERROR_FAKE";
  return 0;
}
CUresult fakeGetErrorString(CUresult error, const char **text) {
  *text = "no such thing";
  return 0;
}
CUresult fakeDeviceGetCount(int32_t *count) {
  *count = 4;
  return 0;
}
CUresult fakeDeviceGet(CUdevice *device, int32_t ordinal) {
  *device = ordinal;
  return ordinal < 4 ? 0 : 101;
}
CUresult fakeDeviceGetAttribute(int32_t *value, int32_t attribute,
                                CUdevice device) {
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    *value = device == 2 ? 8 : 9;
    return 0;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    *value = 0;
    return 0;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    *value = 132;
    return 0;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    *value = device == 3 ? 49152 : 232448;
    return 0;
  default:
    return 1;
  }
}
CUresult fakeDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  printf("retain %d\n", device);
  *context = (CUcontext)&contexts[device];
  return 0;
}
CUresult fakeCtxGetCurrent(CUcontext *context) {
  *context = current;
  return 0;
}
CUresult fakeCtxPushCurrent(CUcontext context) {
  printf("push %d\n", ordinalOf(context));
  current = context;
  return 0;
}
CUresult fakeCtxPopCurrent(CUcontext *context) {
  printf("pop %d\n", ordinalOf(current));
  *context = current;
  current = NULL;
  return 0;
}
CUresult fakeModuleLoadData(CUmodule *module, const void *image) {
  printf("load on %d\n", ordinalOf(current));
  *module = (CUmodule)current;
  return 0;
}
CUresult fakeModuleGetFunction(CUfunction *function, CUmodule module,
                               const char *name) {
  char *text = malloc(strlen(name) + 16);
  sprintf(text, "%s on %d", name, ordinalOf(module));
  *function = (CUfunction)text;
  return 0;
}
CUresult fakeFuncGetAttribute(int32_t *value, int32_t attribute,
                              CUfunction function) {
  *value = 1024;
  return attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES ? 0 : 1;
}
CUresult fakeFuncSetAttribute(CUfunction function, int32_t attribute,
                              int32_t value) {
  return 0;
}
CUresult fakeLaunchKernelEx(const CUlaunchConfig *config, CUfunction function,
                            void **parameters, void **extra) {
  uint32_t cluster = 1;
  int overlaps = 0;
  for (uint32_t i = 0; i < config->numAttrs; ++i) {
    if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
      cluster = config->attrs[i].value.clusterDim.x;
    if (config->attrs[i].id ==
        CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
      overlaps = config->attrs[i].value.programmaticStreamSerializationAllowed;
  }
  printf("launch %s in %d, stream %d%s\n", (const char *)function,
         ordinalOf(current), (int)(uintptr_t)config->hStream,
         overlaps ? ", overlapping" : "");
  /* 132 multiprocessors, clusters of more than one are fewer. */
  if (config->gridDimX != (cluster > 1 ? 10 * cluster : 132))
    printf("a grid of %u blocks, clusters of %u\n", config->gridDimX, cluster);
  return 0;
}
CUresult fakeOccupancyMaxActiveClusters(int32_t *clusters, CUfunction function,
                                        const CUlaunchConfig *config) {
  if (config->numAttrs != 1 ||
      config->attrs[0].id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
    printf("no cluster asked for\n");
  *clusters = getenv("FAKE_NO_CLUSTERS") ? 0 : 10;
  return 0;
}
CUresult fakeTensorMapEncodeTiled(CUtensorMap *map, int32_t type, uint32_t rank,
                                  void *address, const uint64_t *dims,
                                  const uint64_t *strides, const uint32_t *box,
                                  const uint32_t *elementStrides,
                                  int32_t interleave, int32_t swizzle,
                                  int32_t l2Promotion, int32_t oobFill) {
  return (uintptr_t)address % 16 ? 1 : 0;
}
CUresult fakeMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes,
                             CUstream stream) {
  printf("copy %zu\n", bytes);
  return 0;
}

#endif
