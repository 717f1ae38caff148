/*===- coda_runtime.h - C ABI of compiled artifacts ----------------*- C -*-===*\
|*
|* Part of the coda project, under the Apache License v2.0 with LLVM
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===-----------------------------------------------------------------------===*|
|*
|* What a shared library that coda-compile wrote exports, and what a caller
|* hands to it. Plain C99, no LLVM. An artifact exports one table,
|* coda_module_v1(), which lists its entries; each entry is also exported by
|* name:
|*
|*   int32_t coda_F(const coda_ctx *, DLTensor *const *args, int32_t nargs);
|*   int32_t coda_F_workspace(DLTensor *const *args, int32_t nargs,
|*                            size_t *bytes);
|*   int32_t coda_F_infer(DLTensor *const *args, int32_t nargs);
|*
|* `args` holds the inputs, then the outputs, in the order of the table. Outputs
|* are allocated by the caller; coda_F_infer writes the shapes of the outputs
|* (into the `shape` arrays of the output tensors, whose `ndim` must be set)
|* from those of the inputs. Nothing is allocated and nothing synchronised
|* between entry and return of coda_F. All checks precede the first launch.
|* Each function returns a coda_status; coda_last_error() then has the text.
|* All functions may be called from several threads at once, each with its own
|* workspace.
|*
\*===-----------------------------------------------------------------------===*/

#ifndef CODA_RUNTIME_CODA_RUNTIME_H
#define CODA_RUNTIME_CODA_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* DLPack's tensor, laid out as in dlpack.h, which has the full text. The codes
   of 8-bit floats are those of DLPack 1.1. */
#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_
typedef enum { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3 } DLDeviceType;
typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;
typedef enum {
  kDLInt = 0,
  kDLUInt = 1,
  kDLFloat = 2,
  kDLBfloat = 4,
  kDLBool = 6,
  kDLFloat8_e4m3fn = 10,
  kDLFloat8_e5m2 = 12
} DLDataTypeCode;
typedef struct {
  uint8_t code;   /* DLDataTypeCode */
  uint8_t bits;   /* width of one lane */
  uint16_t lanes; /* always 1 here */
} DLDataType;
typedef struct {
  void *data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides; /* in elements; NULL: compact, row-major */
  uint64_t byte_offset;
} DLTensor;
#endif

/* Status codes. */
typedef enum {
  CODA_OK = 0,
  CODA_ERROR_ARGUMENT = 1,  /* count, rank, shape, dtype, device */
  CODA_ERROR_WORKSPACE = 2, /* missing or too small */
  CODA_ERROR_DEVICE = 3,    /* no driver, wrong device, launch failed */
  CODA_ERROR_ASSERT = 4     /* a cf.assert of the source does not hold */
} coda_status;

/* What a call needs besides its arguments. `size` is sizeof(coda_ctx) as the
   caller knows it, so that fields can be added at the end. */
typedef struct {
  uint32_t size;
  int32_t device;         /* ordinal; ignored by CPU artifacts */
  void *stream;           /* CUstream; NULL: the default stream */
  void *workspace;        /* 64-byte aligned (256 on a GPU) */
  size_t workspace_bytes; /* at least what coda_F_workspace said of these args:
                             strides and, on a GPU, addresses count */
} coda_ctx;

/* One argument of an entry. A negative extent -1 is dynamic. */
typedef struct {
  const char *name;
  DLDataType dtype;
  int32_t ndim;
  const int64_t *shape;
  int32_t alias_of; /* output: index of the input whose storage it may share;
                       -1: none */
} coda_arg_info;

typedef int32_t (*coda_entry_fn)(const coda_ctx *, DLTensor *const *, int32_t);
typedef int32_t (*coda_workspace_fn)(DLTensor *const *, int32_t, size_t *);
typedef int32_t (*coda_infer_fn)(DLTensor *const *, int32_t);

typedef struct {
  const char *name;
  int32_t num_inputs;
  int32_t num_outputs;
  const coda_arg_info *args; /* num_inputs + num_outputs of them */
  int32_t num_launches;      /* kernel launches of one call; 0 if empty */
  coda_entry_fn call;
  coda_workspace_fn workspace;
  coda_infer_fn infer;
} coda_entry_info;

typedef struct {
  uint32_t version;    /* 1 */
  const char *target;  /* "cpu" or "sm_90a" */
  const char *cpu;     /* CPU level the host code needs: "x86-64-v3", ... */
  int32_t num_entries;
  const coda_entry_info *entries;
  int32_t (*init)(int32_t device); /* loads eagerly; NULL: nothing to load */
  const char *(*last_error)(void); /* of this thread; "" if none */
} coda_module;

/* The one symbol to look up. */
typedef const coda_module *(*coda_module_v1_fn)(void);

#ifdef __cplusplus
}
#endif

#endif /* CODA_RUNTIME_CODA_RUNTIME_H */
