/*===- HostSupport.h - What an artifact carries besides its code ---*- C -*-===*\
|*
|* Part of the coda project, under the Apache License v2.0 with LLVM
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===-----------------------------------------------------------------------===*|
|*
|* HostSupport.c is compiled with the project and linked into every artifact
|* for the CPU. The exported functions of an artifact are calls of the functions
|* here with a table that coda-to-host makes; LLVM struct types of that pass
|* have the layout of the structs here.
|*
\*===-----------------------------------------------------------------------===*/

#ifndef CODA_RUNTIME_HOSTSUPPORT_H
#define CODA_RUNTIME_HOSTSUPPORT_H

#include "coda/Runtime/coda_runtime.h"

/* Largest rank of an argument; kMaxHostRank of the compiler. */
#define CODA_MAX_RANK 8

/* Features that the code of an artifact may need, checked before a call. */
enum {
  CODA_CPU_AVX2 = 1 << 0, /* AVX2, BMI, BMI2, F16C, FMA, LZCNT, MOVBE */
  CODA_CPU_AVX512 = 1 << 1 /* AVX512 F, BW, CD, DQ, VL */
};

/* One entry, as the code generator describes it. */
typedef struct {
  const coda_entry_info *info;
  /* Runs the entry; 0, or 1 + the index in `asserts` of what does not hold. */
  int32_t (*body)(DLTensor *const *args, void *workspace);
  /* Bytes of workspace for arguments of these extents. */
  int64_t (*workspace)(DLTensor *const *args);
  /* Writes the dynamic extents of the outputs, in order; NULL: none is. */
  void (*infer)(DLTensor *const *args, int64_t *extents);
  /* One number per extent of the inputs, in order: extents of the same number
     must be equal; negative: free. */
  const int32_t *extent_class;
  const char *const *asserts;
  const char *cpu;      /* the CPU that the code was made for */
  int32_t cpu_features; /* CODA_CPU_* */
} coda_host_entry;

int32_t coda_host_call(const coda_host_entry *, const coda_ctx *,
                       DLTensor *const *, int32_t);
int32_t coda_host_workspace(const coda_host_entry *, DLTensor *const *, int32_t,
                            size_t *);
int32_t coda_host_infer(const coda_host_entry *, DLTensor *const *, int32_t);
const char *coda_host_last_error(void);

#endif /* CODA_RUNTIME_HOSTSUPPORT_H */
