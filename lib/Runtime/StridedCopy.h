/*===- StridedCopy.h - The kernel that copies strided arguments ----*- C -*-===*\
|*
|* Part of the coda project, under the Apache License v2.0 with LLVM
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===-----------------------------------------------------------------------===*|
|*
|* The one kernel that no program makes: it copies between a tensor of any
|* strides and a compact one. As text, so that artifacts need no compiler for it:
|* the driver assembles it when an artifact is loaded.
|*
\*===-----------------------------------------------------------------------===*/

#ifndef CODA_LIB_RUNTIME_STRIDEDCOPY_H
#define CODA_LIB_RUNTIME_STRIDEDCOPY_H

#include <stdint.h>

/* Dims of the tensor; CODA_MAX_RANK of the host. */
#define CODA_COPY_RANK 8

/* The kernel's only parameter. */
typedef struct {
  void *compact, *strided;
  int64_t points;
  int32_t rank;
  int32_t width; /* bytes of an element: 1, 2, 4, 8 */
  int32_t out;   /* 1: from the compact one to the other */
  int32_t unused;
  int64_t sizes[CODA_COPY_RANK], strides[CODA_COPY_RANK]; /* in bytes */
} coda_strided_copy;

#define CODA_COPY_NAME "coda_strided_copy"
#define CODA_COPY_THREADS 256

/* A thread takes element after element in steps of the grid: its coordinates,
   innermost first, give the offset in the strided tensor. */
static const char coda_copy_ptx[] =
    ".version 7.8\n"
    ".target sm_90\n"
    ".address_size 64\n"
    ".visible .entry coda_strided_copy(.param .align 8 .b8 copy[168])\n"
    "{\n"
    "  .reg .pred %p;\n"
    "  .reg .b16 %h;\n"
    "  .reg .b32 %d, %rank, %width, %out, %w, %x, %y, %z;\n"
    "  .reg .b64 %i, %step, %points, %rest, %offset, %size, %stride, %at;\n"
    "  .reg .b64 %q, %r, %params, %compact, %strided, %from, %to, %wide, %v;\n"
    "  mov.b64 %params, copy;\n"
    "  ld.param.b64 %compact, [copy];\n"
    "  ld.param.b64 %strided, [copy+8];\n"
    "  ld.param.b64 %points, [copy+16];\n"
    "  ld.param.b32 %rank, [copy+24];\n"
    "  ld.param.b32 %width, [copy+28];\n"
    "  ld.param.b32 %out, [copy+32];\n"
    "  cvta.to.global.u64 %compact, %compact;\n"
    "  cvta.to.global.u64 %strided, %strided;\n"
    "  cvt.u64.u32 %wide, %width;\n"
    "  mov.u32 %x, %ntid.x;\n"
    "  mov.u32 %y, %ctaid.x;\n"
    "  mov.u32 %z, %nctaid.x;\n"
    "  mul.wide.u32 %i, %x, %y;\n"
    "  mul.wide.u32 %step, %x, %z;\n"
    "  mov.u32 %x, %tid.x;\n"
    "  cvt.u64.u32 %at, %x;\n"
    "  add.s64 %i, %i, %at;\n"
    "$next:\n"
    "  setp.ge.s64 %p, %i, %points;\n"
    "  @%p ret;\n"
    "  mov.b64 %rest, %i;\n"
    "  mov.b64 %offset, 0;\n"
    "  mov.b32 %d, %rank;\n"
    "$dim:\n"
    "  setp.eq.s32 %p, %d, 0;\n"
    "  @%p bra $copy;\n"
    "  sub.s32 %d, %d, 1;\n"
    "  mul.wide.u32 %at, %d, 8;\n"
    "  add.s64 %at, %params, %at;\n"
    "  ld.param.b64 %size, [%at+40];\n"
    "  ld.param.b64 %stride, [%at+104];\n"
    "  div.u64 %q, %rest, %size;\n"
    "  mul.lo.s64 %r, %q, %size;\n"
    "  sub.s64 %r, %rest, %r;\n"
    "  mad.lo.s64 %offset, %r, %stride, %offset;\n"
    "  mov.b64 %rest, %q;\n"
    "  bra $dim;\n"
    "$copy:\n"
    "  add.s64 %from, %strided, %offset;\n"
    "  mad.lo.s64 %to, %i, %wide, %compact;\n"
    "  setp.ne.s32 %p, %out, 0;\n"
    "  mov.b64 %at, %from;\n"
    "  selp.b64 %from, %to, %from, %p;\n"
    "  selp.b64 %to, %at, %to, %p;\n"
    "  add.s64 %i, %i, %step;\n"
    "  setp.eq.s32 %p, %width, 2;\n"
    "  @%p bra $two;\n"
    "  setp.eq.s32 %p, %width, 4;\n"
    "  @%p bra $four;\n"
    "  setp.eq.s32 %p, %width, 8;\n"
    "  @%p bra $eight;\n"
    "  ld.global.u8 %h, [%from];\n"
    "  st.global.u8 [%to], %h;\n"
    "  bra $next;\n"
    "$two:\n"
    "  ld.global.b16 %h, [%from];\n"
    "  st.global.b16 [%to], %h;\n"
    "  bra $next;\n"
    "$four:\n"
    "  ld.global.b32 %w, [%from];\n"
    "  st.global.b32 [%to], %w;\n"
    "  bra $next;\n"
    "$eight:\n"
    "  ld.global.b64 %v, [%from];\n"
    "  st.global.b64 [%to], %v;\n"
    "  bra $next;\n"
    "}\n";

#endif /* CODA_LIB_RUNTIME_STRIDEDCOPY_H */
