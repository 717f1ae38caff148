/*===- GPULaunch.c - Launches the kernels of an artifact -------------------===*\
|*
|* Part of the coda project, under the Apache License v2.0 with LLVM
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
\*===-----------------------------------------------------------------------===*/

#include "coda/Runtime/GPULaunch.h"
#include "StridedCopy.h"

#include "coda/Runtime/CudaDriver.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Everything about the call in progress on this thread. */
static _Thread_local struct {
  coda_cuda_driver driver; /* filled once a thread */
  int loaded;
  int32_t device;
  CUstream stream;
  int32_t multiprocessors; /* of `device`; 0: not known yet */
  int32_t check;           /* nothing is launched */
  int32_t pushed;          /* the device's context was not the current one */
  const coda_entry_info *entry;
  DLTensor *const *args;
  uint8_t *unaligned; /* of a check: an element for each argument, or null */
  int32_t afterKernel; /* the last work of the call was a kernel, and the next
                          launch need not wait for its end */
  int32_t status;
  char error[512];
  /* NVTX; null where it is off. */
  int ranges;
  int (*push)(const char *);
  int (*pop)(void);
} call;

/* The primary context of each device with kernels of this artifact. */
static CUcontext contexts[CODA_GPU_MAX_DEVICES];

/* The kernel that copies strided arguments, where the driver assembles text. */
static void *copyFunctions[CODA_GPU_MAX_DEVICES];

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

/* The bytes of a compact tensor: where they begin, and how many. */
static uint64_t bytesOf(const DLTensor *tensor, uintptr_t *start) {
  uint64_t bytes = tensor->dtype.bits / 8;
  *start = (uintptr_t)tensor->data + tensor->byte_offset;
  for (int32_t d = 0; d < tensor->ndim; ++d)
    bytes *= (uint64_t)tensor->shape[d];
  return bytes;
}

/* The number of the argument in whose memory `address` is; -1 if it is none. */
static int32_t findArgument(const void *address) {
  int32_t i, count = call.entry
                         ? call.entry->num_inputs + call.entry->num_outputs
                         : 0;
  for (i = 0; i < count; ++i) {
    uintptr_t start;
    uint64_t bytes = bytesOf(call.args[i], &start);
    if ((uintptr_t)address >= start && (uintptr_t)address - start < bytes)
      return i;
  }
  return -1;
}

/* Writes "argument 1 (x)" for the argument in whose memory `address` is. */
static const char *describe(const void *address, char *text, size_t size) {
  int32_t i = findArgument(address);
  if (i < 0)
    snprintf(text, size, "an intermediate");
  else
    snprintf(text, size, "argument %d (%s)", i, call.entry->args[i].name);
  return text;
}

static const char *entryName(void) {
  return call.entry ? call.entry->name : "coda";
}

/* Finds NVTX: the library of the CUDA toolkit, or of one before 13. */
static void findRanges(void) {
  static const char *const names[] = {"libnvtx3interop.so.1",
                                      "libnvtx3interop.so",
                                      "libnvToolsExt.so.1"};
  const char *wanted = getenv("CODA_NVTX");
  void *library = NULL, *push, *pop;
  call.ranges = 1;
  if (!wanted || !wanted[0] || !strcmp(wanted, "0"))
    return;
  for (size_t i = 0; !library && i < sizeof(names) / sizeof(names[0]); ++i)
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return;
  push = dlsym(library, "nvtxRangePushA");
  pop = dlsym(library, "nvtxRangePop");
  if (!push || !pop)
    return;
  memcpy(&call.push, &push, sizeof(push));
  memcpy(&call.pop, &pop, sizeof(pop));
}

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

/* The most attributes that a launch has. */
#define MAX_ATTRIBUTES 2

/* The launch of `blocks` blocks of `kernel`, with room for its attributes. */
static CUlaunchConfig configOf(const coda_gpu_kernel *kernel, int64_t blocks,
                               CUlaunchAttribute attributes[MAX_ATTRIBUTES]) {
  CUlaunchConfig config;
  memset(&config, 0, sizeof(config));
  memset(attributes, 0, MAX_ATTRIBUTES * sizeof(*attributes));
  config.gridDimX = (uint32_t)blocks;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = (uint32_t)kernel->threads;
  config.blockDimY = config.blockDimZ = 1;
  config.sharedMemBytes = (uint32_t)kernel->sharedBytes;
  config.attrs = attributes;
  if (kernel->cluster > 1) {
    CUlaunchAttribute *attribute = &attributes[config.numAttrs++];
    attribute->id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute->value.clusterDim.x = (uint32_t)kernel->cluster;
    attribute->value.clusterDim.y = attribute->value.clusterDim.z = 1;
  }
  return config;
}

/* Asks how many clusters of `kernel` the device runs at one time. */
static void countClusters(coda_gpu_kernel *kernel, CUfunction function,
                          int32_t device) {
  if (kernel->cluster <= 1)
    return;
  CUlaunchAttribute attributes[MAX_ATTRIBUTES];
  CUlaunchConfig config = configOf(kernel, kernel->cluster, attributes);
  int32_t clusters = 0;
  if (!check(call.driver.OccupancyMaxActiveClusters(&clusters, function,
                                                    &config),
             kernel->name))
    return;
  if (clusters < 1) {
    fail(CODA_ERROR_DEVICE,
         "kernel %s needs a cluster of %d blocks with %d bytes of shared "
         "memory each; device %d runs none",
         kernel->name, kernel->cluster, kernel->sharedBytes, device);
    return;
  }
  __atomic_store_n(&kernel->clusters[device], clusters, __ATOMIC_RELAXED);
}

/* Loads the kernel that copies strided arguments. A driver that assembles no text
   is an error of the calls that need it. */
static void loadCopy(int32_t device) {
  CUmodule module;
  CUfunction function;
  if (!copyFunctions[device] &&
      !call.driver.ModuleLoadData(&module, coda_copy_ptx) &&
      !call.driver.ModuleGetFunction(&function, module, CODA_COPY_NAME))
    __atomic_store_n(&copyFunctions[device], (void *)function,
                     __ATOMIC_RELEASE);
}

int32_t coda_gpu_init(coda_gpu_kernel *const *kernels, int32_t count,
                      int32_t device) {
  call.status = CODA_OK;
  call.error[0] = 0;
  if (!useDevice(device))
    return call.status;
  CUdevice handle;
  CUcontext context = __atomic_load_n(&contexts[device], __ATOMIC_ACQUIRE),
            previous = NULL;
  int32_t most = 0;
  if (!check(call.driver.DeviceGet(&handle, device), "no such device") ||
      !check(call.driver.DeviceGetAttribute(
                 &most, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                 handle),
             "device attribute") ||
      (!context && !check(call.driver.DevicePrimaryCtxRetain(&context, handle),
                          "context of the device")) ||
      !check(call.driver.CtxPushCurrent(context), "context of the device"))
    return call.status;
  __atomic_store_n(&contexts[device], context, __ATOMIC_RELEASE);
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
    int32_t fixed = 0;
    if (!check(call.driver.ModuleGetFunction(&function, module, kernel->name),
               kernel->name) ||
        !check(call.driver.FuncGetAttribute(
                   &fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function),
               kernel->name))
      break;
    if (kernel->sharedBytes + fixed > most) {
      fail(CODA_ERROR_DEVICE,
           "kernel %s needs %d bytes of shared memory, a block of device %d "
           "has at most %d",
           kernel->name, kernel->sharedBytes + fixed, device, most);
      break;
    }
    if (!check(call.driver.FuncSetAttribute(
                   function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                   kernel->sharedBytes),
               kernel->name))
      break;
    countClusters(kernel, function, device);
    if (call.status)
      break;
    /* Two threads may both load; each stores a valid function. */
    __atomic_store_n(&kernel->function[device], (void *)function,
                     __ATOMIC_RELEASE);
  }
  if (!call.status)
    loadCopy(device);
  call.driver.CtxPopCurrent(&previous);
  return call.status;
}

int32_t coda_gpu_begin(const coda_ctx *ctx, const coda_entry_info *entry,
                       DLTensor *const *args, int32_t onlyCheck,
                       uint8_t *unaligned) {
  CUcontext context, current = NULL;
  call.status = CODA_OK;
  call.error[0] = 0;
  call.stream = ctx ? (CUstream)ctx->stream : NULL;
  call.entry = entry;
  call.args = args;
  call.check = onlyCheck;
  call.unaligned = unaligned;
  call.pushed = 0;
  call.afterKernel = 0;
  if (!useDevice(ctx ? ctx->device : 0))
    return call.status;
  context = __atomic_load_n(&contexts[call.device], __ATOMIC_ACQUIRE);
  if (!context) {
    fail(CODA_ERROR_DEVICE,
         "%s: the kernels are not loaded on device %d; call the artifact's "
         "init for it first",
         entryName(), call.device);
    return call.status;
  }
  if (onlyCheck)
    return CODA_OK;
  if (!call.ranges)
    findRanges();
  /* A caller's thread may have another device, or none. */
  if (!check(call.driver.CtxGetCurrent(&current), "context of the thread"))
    return call.status;
  if (current != context) {
    if (!check(call.driver.CtxPushCurrent(context), "context of the device"))
      return call.status;
    call.pushed = 1;
  }
  if (call.push)
    call.push(entryName());
  return CODA_OK;
}

int32_t coda_gpu_end(void) {
  CUcontext context;
  if (call.check)
    return call.status;
  if (call.pop)
    call.pop();
  if (call.pushed)
    call.driver.CtxPopCurrent(&context);
  call.pushed = 0;
  return call.status;
}

void coda_gpu_extent(const coda_gpu_kernel *kernel, int64_t extent) {
  if (extent < 0 || extent > INT32_MAX)
    fail(CODA_ERROR_ARGUMENT,
         "%s: kernel %s: an extent of %lld, expected at most %d", entryName(),
         kernel->name, (long long)extent, INT32_MAX);
}

void coda_gpu_address(const coda_gpu_kernel *kernel, const void *address,
                      int64_t alignment) {
  char text[160];
  if ((uintptr_t)address % (uintptr_t)alignment == 0)
    return;
  int32_t argument = findArgument(address);
  if (call.unaligned && argument >= 0)
    call.unaligned[argument] = 1;
  else
    fail(CODA_ERROR_ARGUMENT,
         "%s: kernel %s: the address of %s is %p, expected a multiple of %lld "
         "bytes",
         entryName(), kernel->name, describe(address, text, sizeof(text)),
         address, (long long)alignment);
}

/* Stands for the address of an operand without elements. */
#define EMPTY_ADDRESS 4096

/* Longest extent and stride (in bytes) of a tensor map, exclusive. */
#define MAX_EXTENT ((int64_t)1 << 32)
#define MAX_STRIDE ((int64_t)1 << 40)

void coda_gpu_tensor_map(const coda_gpu_kernel *kernel, void *map,
                         void *address, int32_t type, int32_t rank,
                         const int64_t *sizes, const int64_t *strides,
                         const int32_t *box, int32_t sector) {
  uint64_t dims[5], bytes[5];
  uint32_t boxes[5], ones[5];
  int64_t width = type == CU_TENSOR_MAP_UINT8     ? 1
                  : type == CU_TENSOR_MAP_FLOAT32 ? 4
                                                  : 2;
  int32_t empty = 0;
  char text[160];
  if (call.status)
    return;
  for (int32_t i = 0; i < rank; ++i)
    empty |= sizes[i] == 0;
  if (!empty)
    coda_gpu_address(kernel, address, 16);
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
    if (bytes[i - 1] % 16 || bytes[i - 1] >= (uint64_t)MAX_STRIDE)
      fail(CODA_ERROR_ARGUMENT,
           "%s: kernel %s: rows of %s are %lld bytes apart, expected a multiple "
           "of 16, less than %lld",
           entryName(), kernel->name, describe(address, text, sizeof(text)),
           (long long)bytes[i - 1], (long long)MAX_STRIDE);
  }
  for (int32_t i = 0; i < rank; ++i)
    if (dims[i] > (uint64_t)MAX_EXTENT)
      fail(CODA_ERROR_ARGUMENT,
           "%s: kernel %s: an extent of %s is %lld, expected at most %lld",
           entryName(), kernel->name, describe(address, text, sizeof(text)),
           (long long)dims[i], (long long)MAX_EXTENT);
  if (call.status || call.check)
    return;
  if (empty)
    address = (void *)(uintptr_t)EMPTY_ADDRESS;
  /* Swizzled over the bytes of a row of the box. */
  int64_t row = box[rank - 1] * width;
  int32_t swizzle = row == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                    : row == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                    : row == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                : CU_TENSOR_MAP_SWIZZLE_NONE;
  check(call.driver.TensorMapEncodeTiled(
            (CUtensorMap *)map, type, (uint32_t)rank, address, dims, bytes,
            boxes, ones, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
            sector == 256 ? CU_TENSOR_MAP_L2_PROMOTION_256B
                          : CU_TENSOR_MAP_L2_PROMOTION_128B,
            CU_TENSOR_MAP_OOB_FILL_ZERO),
        kernel->name);
}

void coda_gpu_copy(void *to, const void *from, int64_t bytes) {
  if (call.status || call.check || bytes == 0)
    return;
  call.afterKernel = 0;
  check(call.driver.MemcpyDtoDAsync((CUdeviceptr)(uintptr_t)to,
                                    (CUdeviceptr)(uintptr_t)from, (size_t)bytes,
                                    call.stream),
        "copy on the device");
}

/* Blocks per multiprocessor at most where a thread takes several points. */
#define BLOCKS_PER_MULTIPROCESSOR 16

/* Dims of `tensor` but those of one element, neighbours that follow each other in
   memory as one. */
static void setDims(coda_strided_copy *copy, const DLTensor *tensor) {
  copy->points = 1;
  copy->rank = 0;
  for (int32_t d = 0; d < tensor->ndim; ++d) {
    int64_t size = tensor->shape[d], stride = tensor->strides[d] * copy->width;
    copy->points *= size;
    if (size == 1)
      continue;
    if (copy->rank && copy->strides[copy->rank - 1] == size * stride) {
      copy->sizes[copy->rank - 1] *= size;
      copy->strides[copy->rank - 1] = stride;
      continue;
    }
    copy->sizes[copy->rank] = size;
    copy->strides[copy->rank++] = stride;
  }
}

void coda_gpu_copy_argument(void *compact, const DLTensor *tensor,
                            int32_t isCompact, int32_t out) {
  coda_strided_copy copy;
  void *parameters[] = {&copy};
  memset(&copy, 0, sizeof(copy));
  copy.compact = compact;
  copy.strided = (char *)tensor->data + tensor->byte_offset;
  copy.width = tensor->dtype.bits / 8;
  copy.out = out;
  if (isCompact) {
    int64_t bytes = copy.width;
    for (int32_t d = 0; d < tensor->ndim; ++d)
      bytes *= tensor->shape[d];
    coda_gpu_copy(out ? copy.strided : compact, out ? compact : copy.strided,
                  bytes);
    return;
  }
  void *function =
      __atomic_load_n(&copyFunctions[call.device], __ATOMIC_ACQUIRE);
  if (!function)
    fail(CODA_ERROR_DEVICE,
         "%s: the driver of device %d does not assemble the kernel that copies "
         "strided arguments; make them compact",
         entryName(), call.device);
  if (call.status || call.check)
    return;
  setDims(&copy, tensor);
  CUlaunchConfig config;
  memset(&config, 0, sizeof(config));
  int64_t blocks = (copy.points - 1) / CODA_COPY_THREADS + 1,
          most = (int64_t)call.multiprocessors * BLOCKS_PER_MULTIPROCESSOR;
  config.gridDimX = (uint32_t)(blocks < most ? blocks : most);
  config.blockDimX = CODA_COPY_THREADS;
  config.gridDimY = config.gridDimZ = 1;
  config.blockDimY = config.blockDimZ = 1;
  config.hStream = call.stream;
  call.afterKernel = 0;
  check(call.driver.LaunchKernelEx(&config, (CUfunction)function, parameters,
                                   NULL),
        CODA_COPY_NAME);
}

void coda_gpu_loads_early(const void *address) {
  uintptr_t start, written;
  uint64_t bytes;
  int32_t i;
  if (call.status || call.check || !call.afterKernel)
    return;
  /* What is no argument is a copy of one, from before the first kernel. */
  i = findArgument(address);
  if (i < 0)
    return;
  bytes = bytesOf(call.args[i], &start);
  for (i = call.entry->num_inputs;
       i < call.entry->num_inputs + call.entry->num_outputs; ++i) {
    uint64_t size = bytesOf(call.args[i], &written);
    if (start < written + size && written < start + bytes)
      call.afterKernel = 0;
  }
}

static void launch(coda_gpu_kernel *kernel, int64_t blocks, void **parameters) {
  void *function =
      __atomic_load_n(&kernel->function[call.device], __ATOMIC_ACQUIRE);
  if (!function) {
    fail(CODA_ERROR_DEVICE,
         "%s: kernel %s is not loaded on device %d; call the artifact's init "
         "for it first",
         entryName(), kernel->name, call.device);
    return;
  }
  if (call.check)
    return;
  CUlaunchAttribute attributes[MAX_ATTRIBUTES];
  CUlaunchConfig config = configOf(kernel, blocks, attributes);
  config.hStream = call.stream;
  if (kernel->overlaps && call.afterKernel) {
    CUlaunchAttribute *attribute = &attributes[config.numAttrs++];
    attribute->id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute->value.programmaticStreamSerializationAllowed = 1;
  }
  call.afterKernel = 1;
  if (call.push)
    call.push(kernel->name);
  check(call.driver.LaunchKernelEx(&config, (CUfunction)function, parameters,
                                   NULL),
        kernel->name);
  if (call.pop)
    call.pop();
}

void coda_gpu_launch(coda_gpu_kernel *kernel, void **parameters) {
  if (call.status)
    return;
  int64_t blocks = call.multiprocessors;
  if (kernel->cluster > 1)
    blocks = (int64_t)kernel->cluster *
             __atomic_load_n(&kernel->clusters[call.device], __ATOMIC_RELAXED);
  launch(kernel, blocks, parameters);
}

void coda_gpu_launch_points(coda_gpu_kernel *kernel, int64_t points,
                            void **parameters) {
  int64_t blocks, most = (int64_t)call.multiprocessors * BLOCKS_PER_MULTIPROCESSOR;
  if (call.status || points <= 0)
    return;
  blocks = points / kernel->threads + (points % kernel->threads != 0);
  launch(kernel, blocks < most ? blocks : most, parameters);
}
