/*===- GPULaunch.h - Launches the kernels of an artifact ----------*- C -*-===*\
|*
|* Part of the coda project, under the Apache License v2.0 with LLVM
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===-----------------------------------------------------------------------===*|
|*
|* Called by the host code that coda-to-nvgpu makes; linked into GPU artifacts.
|* An entry brackets its launches by coda_gpu_begin and coda_gpu_end, twice: the
|* first time everything is checked and nothing launched, so that a call that is
|* refused has written nothing. Errors are sticky in between: the first one is
|* kept, what follows does nothing, and coda_gpu_end returns it. State is per
|* thread. Nothing here allocates on the device, synchronises, or, between begin
|* and end, loads.
|*
|* With CODA_NVTX=1 in the environment each call of an entry and each launch is
|* an NVTX range, where a library of NVTX can be loaded.
|*
\*===-----------------------------------------------------------------------===*/

#ifndef CODA_RUNTIME_GPULAUNCH_H
#define CODA_RUNTIME_GPULAUNCH_H

#include "coda/Runtime/coda_runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CODA_GPU_MAX_DEVICES 16

/* The record of one kernel, a global of the artifact. The compiler writes the
   first six fields, coda_gpu_init the others. */
typedef struct {
  const void *image; /* cubin, or PTX ended by a null character */
  const char *name;
  int32_t sharedBytes; /* dynamic shared memory of a block */
  int32_t threads;
  int32_t cluster; /* blocks of a cluster */
  /* 1: the kernel waits for the kernel before it itself, before it touches
     memory that the call writes, so that it may be launched before that has
     ended. */
  int32_t overlaps;
  /* Clusters that run at one time; 0 for kernels without. */
  int32_t clusters[CODA_GPU_MAX_DEVICES];
  void *function[CODA_GPU_MAX_DEVICES];
} coda_gpu_kernel;

/* Loads `count` kernels on `device`. Returns a coda_status. */
int32_t coda_gpu_init(coda_gpu_kernel *const *kernels, int32_t count,
                      int32_t device);

/* Opens a call of `entry` with the arguments `args`, which errors name: its
   device and stream. With `check` nothing is launched until coda_gpu_end; an
   argument at an address that a kernel cannot use is then no error but a 1 in
   `unaligned`, one byte an argument, unless that is null. Returns a coda_status;
   coda_gpu_end follows only if it is CODA_OK. */
int32_t coda_gpu_begin(const coda_ctx *ctx, const coda_entry_info *entry,
                       DLTensor *const *args, int32_t check,
                       uint8_t *unaligned);

/* Closes a call; returns the first error since coda_gpu_begin, or CODA_OK. */
int32_t coda_gpu_end(void);

/* Text of this thread's last error; "" if there was none. */
const char *coda_gpu_last_error(void);

/* One launch of `kernel`: one call per parameter that needs work, then launch. */

/* Checks an extent that is passed as 32 bits. */
void coda_gpu_extent(const coda_gpu_kernel *kernel, int64_t extent);

/* Checks that `address` is a multiple of `alignment` bytes. */
void coda_gpu_address(const coda_gpu_kernel *kernel, const void *address,
                      int64_t alignment);

/* Encodes `map` (128 bytes, 64-byte aligned). `type` is a CUtensorMapDataType
   of 16 or 32 bits; sizes and strides (in elements) and the box are outermost
   first, the last stride is 1. A read brings `sector` bytes into L2, 128 or 256.
   Checks the alignment that the hardware needs. */
void coda_gpu_tensor_map(const coda_gpu_kernel *kernel, void *map,
                         void *address, int32_t type, int32_t rank,
                         const int64_t *sizes, const int64_t *strides,
                         const int32_t *box, int32_t sector);

/* The next launch begins to load the argument at `address` before it waits for
   the kernel before it. Where the argument overlaps an output, which a kernel of
   the call may write, that launch begins when all before it has ended. */
void coda_gpu_loads_early(const void *address);

/* Copies `bytes` from device memory to device memory, on the call's stream. */
void coda_gpu_copy(void *to, const void *from, int64_t bytes);

/* Copies the elements of `tensor` to compact memory, or from there with `out`, on
   the call's stream; `isCompact`: they follow each other in it, too. It has
   elements, of 1, 2, 4 or 8 bytes. */
void coda_gpu_copy_argument(void *compact, const DLTensor *tensor,
                            int32_t isCompact, int32_t out);

/* Launches one block per multiprocessor, or as many clusters as run at one
   time; if the call's last work was a kernel, too, before that has ended. */
void coda_gpu_launch(coda_gpu_kernel *kernel, void **parameters);

/* Launches a kernel whose threads take `points` points in steps of the grid;
   nothing if there are none. */
void coda_gpu_launch_points(coda_gpu_kernel *kernel, int64_t points,
                            void **parameters);

#ifdef __cplusplus
}
#endif

#endif /* CODA_RUNTIME_GPULAUNCH_H */
