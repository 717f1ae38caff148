/*===- CudaDriver.h - the CUDA driver through dlopen ---------------*- C
-*-===*\
|*
|* Part of the coda project, under the Apache License v2.0 with LLVM
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===-----------------------------------------------------------------------===*|
|*
|* The functions of libcuda.so.1 that the launch runtime and the tools use, as
|* one table of pointers filled by coda_cuda_load(). Nothing links the driver
|* or needs a CUDA toolkit, so the same binaries load on a machine without a
|* GPU. The declarations follow the driver's ABI (cuda.h is not needed and must
|* not be included beside this header); versioned entry points (_v2) are looked
|* up under their versioned names.
|*
|* No state is kept here: the caller owns the table. The library stays loaded
|* until the process ends, as the driver does not support being unloaded.
|* Plain C99 with no library but libc and libdl, so that it can be linked into
|* an artifact.
|*
\*===-----------------------------------------------------------------------===*/

#ifndef CODA_RUNTIME_CUDADRIVER_H
#define CODA_RUNTIME_CUDADRIVER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int32_t CUresult; /* 0: success */
typedef int32_t CUdevice;
typedef uint64_t CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;

/* An encoded tensor map: opaque, passed by value as a kernel parameter. */
typedef struct {
#if defined(__cplusplus)
  alignas(64) uint64_t opaque[16];
#else
  _Alignas(64) uint64_t opaque[16];
#endif
} CUtensorMap;

/* Element type of a tensor map. */
enum {
  CU_TENSOR_MAP_UINT8 = 0,
  CU_TENSOR_MAP_UINT16 = 1,
  CU_TENSOR_MAP_UINT32 = 2,
  CU_TENSOR_MAP_INT32 = 3,
  CU_TENSOR_MAP_UINT64 = 4,
  CU_TENSOR_MAP_INT64 = 5,
  CU_TENSOR_MAP_FLOAT16 = 6,
  CU_TENSOR_MAP_FLOAT32 = 7,
  CU_TENSOR_MAP_FLOAT64 = 8,
  CU_TENSOR_MAP_BFLOAT16 = 9
};
enum { CU_TENSOR_MAP_INTERLEAVE_NONE = 0 };
enum {
  CU_TENSOR_MAP_SWIZZLE_NONE = 0,
  CU_TENSOR_MAP_SWIZZLE_32B = 1,
  CU_TENSOR_MAP_SWIZZLE_64B = 2,
  CU_TENSOR_MAP_SWIZZLE_128B = 3
};
enum {
  CU_TENSOR_MAP_L2_PROMOTION_NONE = 0,
  CU_TENSOR_MAP_L2_PROMOTION_64B = 1,
  CU_TENSOR_MAP_L2_PROMOTION_128B = 2,
  CU_TENSOR_MAP_L2_PROMOTION_256B = 3
};
enum { CU_TENSOR_MAP_OOB_FILL_ZERO = 0 };

/* Device and function attributes that are used. */
enum {
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97
};
enum {
  CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
};
enum { CU_STREAM_NON_BLOCKING = 1 };
enum {
  CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
  CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6
};

typedef struct {
  int32_t id; /* CU_LAUNCH_ATTRIBUTE_* */
  char pad[4];
  union {
    char bytes[64];
    struct {
      uint32_t x, y, z;
    } clusterDim;
    int32_t programmaticStreamSerializationAllowed;
  } value;
} CUlaunchAttribute;

typedef struct {
  uint32_t gridDimX, gridDimY, gridDimZ;
  uint32_t blockDimX, blockDimY, blockDimZ;
  uint32_t sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute *attrs;
  uint32_t numAttrs;
} CUlaunchConfig;

/* Member (the name without its prefix `cu`), symbol, parameters. */
#define CODA_CUDA_FUNCTIONS(X)                                                 \
  X(Init, "cuInit", (uint32_t flags))                                          \
  X(DriverGetVersion, "cuDriverGetVersion", (int32_t *version))                \
  X(GetErrorName, "cuGetErrorName", (CUresult error, const char **text))       \
  X(GetErrorString, "cuGetErrorString", (CUresult error, const char **text))   \
  X(DeviceGetCount, "cuDeviceGetCount", (int32_t *count))                      \
  X(DeviceGet, "cuDeviceGet", (CUdevice * device, int32_t ordinal))            \
  X(DeviceGetName, "cuDeviceGetName",                                          \
    (char *name, int32_t length, CUdevice device))                             \
  X(DeviceGetAttribute, "cuDeviceGetAttribute",                                \
    (int32_t *value, int32_t attribute, CUdevice device))                      \
  X(DevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain",                        \
    (CUcontext * context, CUdevice device))                                    \
  X(DevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2",                   \
    (CUdevice device))                                                         \
  X(CtxGetCurrent, "cuCtxGetCurrent", (CUcontext * context))                   \
  X(CtxSetCurrent, "cuCtxSetCurrent", (CUcontext context))                     \
  X(CtxPushCurrent, "cuCtxPushCurrent_v2", (CUcontext context))                \
  X(CtxPopCurrent, "cuCtxPopCurrent_v2", (CUcontext * context))                \
  X(CtxGetDevice, "cuCtxGetDevice", (CUdevice * device))                       \
  X(ModuleLoadData, "cuModuleLoadData",                                        \
    (CUmodule * module, const void *image))                                    \
  X(ModuleLoadDataEx, "cuModuleLoadDataEx",                                    \
    (CUmodule * module, const void *image, uint32_t numOptions,                \
     int32_t *options, void **values))                                         \
  X(ModuleUnload, "cuModuleUnload", (CUmodule module))                         \
  X(ModuleGetFunction, "cuModuleGetFunction",                                  \
    (CUfunction * function, CUmodule module, const char *name))                \
  X(FuncSetAttribute, "cuFuncSetAttribute",                                    \
    (CUfunction function, int32_t attribute, int32_t value))                   \
  X(FuncGetAttribute, "cuFuncGetAttribute",                                    \
    (int32_t *value, int32_t attribute, CUfunction function))                  \
  X(LaunchKernelEx, "cuLaunchKernelEx",                                        \
    (const CUlaunchConfig *config, CUfunction function, void **parameters,     \
     void **extra))                                                            \
  X(OccupancyMaxActiveClusters, "cuOccupancyMaxActiveClusters",                \
    (int32_t * clusters, CUfunction function, const CUlaunchConfig *config))   \
  X(TensorMapEncodeTiled, "cuTensorMapEncodeTiled",                            \
    (CUtensorMap * map, int32_t dataType, uint32_t rank, void *address,        \
     const uint64_t *dims, const uint64_t *strides, const uint32_t *box,       \
     const uint32_t *elementStrides, int32_t interleave, int32_t swizzle,      \
     int32_t l2Promotion, int32_t oobFill))                                    \
  X(MemAlloc, "cuMemAlloc_v2", (CUdeviceptr * pointer, size_t bytes))          \
  X(MemFree, "cuMemFree_v2", (CUdeviceptr pointer))                            \
  X(MemcpyHtoD, "cuMemcpyHtoD_v2",                                             \
    (CUdeviceptr to, const void *from, size_t bytes))                          \
  X(MemcpyDtoH, "cuMemcpyDtoH_v2", (void *to, CUdeviceptr from, size_t bytes)) \
  X(MemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2",                                   \
    (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))         \
  X(MemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2",                                   \
    (void *to, CUdeviceptr from, size_t bytes, CUstream stream))               \
  X(MemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2",                                   \
    (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))         \
  X(MemsetD8Async, "cuMemsetD8Async",                                          \
    (CUdeviceptr pointer, uint8_t value, size_t bytes, CUstream stream))       \
  X(StreamCreate, "cuStreamCreate", (CUstream * stream, uint32_t flags))       \
  X(StreamDestroy, "cuStreamDestroy_v2", (CUstream stream))                    \
  X(StreamSynchronize, "cuStreamSynchronize", (CUstream stream))               \
  X(EventCreate, "cuEventCreate", (CUevent * event, uint32_t flags))           \
  X(EventDestroy, "cuEventDestroy_v2", (CUevent event))                        \
  X(EventRecord, "cuEventRecord", (CUevent event, CUstream stream))            \
  X(EventSynchronize, "cuEventSynchronize", (CUevent event))                   \
  X(EventElapsedTime, "cuEventElapsedTime",                                    \
    (float *milliseconds, CUevent start, CUevent end))

typedef struct {
  void *library; /* from dlopen */
#define CODA_CUDA_MEMBER(name, symbol, parameters) CUresult(*name) parameters;
  CODA_CUDA_FUNCTIONS(CODA_CUDA_MEMBER)
#undef CODA_CUDA_MEMBER
} coda_cuda_driver;

/* Loads libcuda.so.1, fills *driver and calls cuInit. Returns 0; otherwise
   non-zero, *driver is zeroed and `error` (of `errorSize` bytes, at least 1)
   holds one line: no driver library, a function that the driver lacks, or what
   cuInit said (no device). May be called from several threads, each with its
   own table. */
int coda_cuda_load(coda_cuda_driver *driver, char *error, size_t errorSize);

/* Writes "NAME (text)" of a driver status to `text`. */
void coda_cuda_describe(const coda_cuda_driver *driver, CUresult status,
                        char *text, size_t textSize);

#ifdef __cplusplus
}
#endif

#endif /* CODA_RUNTIME_CUDADRIVER_H */
