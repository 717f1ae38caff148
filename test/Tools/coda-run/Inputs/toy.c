/*===- toy.c - an artifact written by hand
---------------------------------===*\
|*
|* Part of the coda project, under the Apache License v2.0 with LLVM
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
|*===-----------------------------------------------------------------------===*|
|*
|* What coda-compile writes, in C, so that the runner can be tested alone:
|*
|*   main(x[T, 4], w[4]) -> y[T, 4] = x * w, s[T] = sum over the row of x * w
|*   count(n[3]: i64) -> n + 1
|*
|* ELEMENT chooses the floats: 32 (f32), 64 (f64) or 16 (f32, but y is
|* bf16, rounded toward zero). FAULT plants a bug:
|*   1 writes past the end of y     2 writes before the workspace
|*   3 leaves an element unwritten  4 changes w
|*   5 counts its runs in y         6 refuses its arguments
|*   7 gives NaN                    8 is wrong by 1 %
|*   9 has a table of version 2    10 needs an unknown element type
|*  11 was compiled for a GPU      12 cannot be initialised
|*
\*===-----------------------------------------------------------------------===*/

#include "coda/Runtime/coda_runtime.h"

#include <string.h>

#ifndef ELEMENT
#define ELEMENT 32
#endif
#ifndef FAULT
#define FAULT 0
#endif
/* Extent of T in the table; -1: dynamic. */
#ifndef ROWS
#define ROWS -1
#endif
#ifndef LAUNCHES
#define LAUNCHES 2
#endif

#if ELEMENT == 64
typedef double real;
#else
typedef float real;
#endif
#if ELEMENT == 16
typedef uint16_t stored;
#define STORED {kDLBfloat, 16, 1}
#else
typedef real stored;
#define STORED {kDLFloat, ELEMENT, 1}
#endif
#if FAULT == 10
#define INPUT {kDLFloat, 8, 1}
#else
#define INPUT {kDLFloat, 8 * sizeof(real), 1}
#endif

static __thread const char *lastError = "";

static stored round_(real value) {
#if ELEMENT == 16
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  return (uint16_t)(bits >> 16);
#else
  return value;
#endif
}

static int32_t check(DLTensor *const *args, int32_t n) {
  if (n != 4 || args[0]->ndim != 2 || args[0]->shape[1] != 4) {
    lastError = "main: expected 4 arguments, x of shape ?x4";
    return CODA_ERROR_ARGUMENT;
  }
#if FAULT == 6
  lastError = "main: x must have at least 1000 rows";
  return CODA_ERROR_ASSERT;
#endif
  return CODA_OK;
}

static int32_t main_infer(DLTensor *const *args, int32_t n) {
  int32_t status = check(args, n);
  if (status != CODA_OK)
    return status;
  args[2]->shape[0] = args[3]->shape[0] = args[0]->shape[0];
  return CODA_OK;
}

static int32_t main_workspace(DLTensor *const *args, int32_t n, size_t *bytes) {
  *bytes = 4 * sizeof(real);
  return check(args, n);
}

static int32_t main_call(const coda_ctx *ctx, DLTensor *const *args,
                         int32_t n) {
  int32_t status = check(args, n);
  if (status != CODA_OK)
    return status;
  const real *x = args[0]->data;
  real *w = args[1]->data;
  stored *y = args[2]->data;
  real *s = args[3]->data;
  real *row = ctx->workspace;
  int64_t rows = args[0]->shape[0];
  for (int64_t i = 0; i < rows; ++i) {
    real sum = 0;
    for (int j = 0; j < 4; ++j) {
      row[j] = x[4 * i + j] * w[j];
      sum += row[j];
    }
    for (int j = 0; j < 4; ++j)
      if (FAULT != 3 || i != rows - 1 || j != 1)
        y[4 * i + j] = round_(row[j]);
    s[i] = sum;
  }
#if FAULT == 1
  y[4 * rows + 1] = 0;
#elif FAULT == 2
  row[-1] = 0;
#elif FAULT == 4
  w[3] = 0;
#elif FAULT == 5
  static int runs = 0;
  y[0] = round_((real)++runs);
#elif FAULT == 7
  y[2] = round_((real)__builtin_nanf(""));
#elif FAULT == 8
  s[0] *= (real)1.01;
#endif
  return CODA_OK;
}

static int32_t count_infer(DLTensor *const *args, int32_t n) {
  (void)args;
  (void)n;
  return CODA_OK;
}

static int32_t count_workspace(DLTensor *const *args, int32_t n,
                               size_t *bytes) {
  (void)args;
  (void)n;
  *bytes = 0;
  return CODA_OK;
}

static int32_t count_call(const coda_ctx *ctx, DLTensor *const *args,
                          int32_t n) {
  (void)ctx;
  (void)n;
  for (int i = 0; i < 3; ++i)
    ((int64_t *)args[1]->data)[i] = ((int64_t *)args[0]->data)[i] + 1;
  return CODA_OK;
}

static int32_t init(int32_t device) {
  (void)device;
#if FAULT == 12
  lastError = "the device has no memory left";
  return CODA_ERROR_DEVICE;
#endif
  return CODA_OK;
}

static const char *last_error(void) { return lastError; }

#ifndef NO_TABLE
const coda_module *coda_module_v1(void) {
  static const int64_t shapeX[] = {ROWS, 4}, shapeW[] = {4}, shapeS[] = {ROWS},
                       shapeN[] = {3};
  static const coda_arg_info mainArgs[] = {
      {"x", INPUT, 2, shapeX, -1},
      {"w", {kDLFloat, 8 * sizeof(real), 1}, 1, shapeW, -1},
      {"y", STORED, 2, shapeX, -1},
      {"s", {kDLFloat, 8 * sizeof(real), 1}, 1, shapeS, -1}};
  static const coda_arg_info countArgs[] = {
      {"n", {kDLInt, 64, 1}, 1, shapeN, -1},
      {"m", {kDLInt, 64, 1}, 1, shapeN, -1}};
  static const coda_entry_info entries[] = {
      {"main", 2, 2, mainArgs, LAUNCHES, main_call, main_workspace, main_infer},
      {"count", 1, 1, countArgs, 1, count_call, count_workspace, count_infer}};
  static const coda_module module = {FAULT == 9 ? 2 : 1,
                                     FAULT == 11 ? "sm_90a" : "cpu",
                                     "x86-64",
                                     2,
                                     entries,
                                     init,
                                     last_error};
  return &module;
}
#endif
