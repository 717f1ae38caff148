/* An artifact written by hand, so that the package is tested without the
 * compiler. scale: (x: bf16[?x4], s: f32[]) -> (y: bf16[?x4], n: i64[]), where
 * y is x with its elements' bits kept and n = rows * s. It wants 128 bytes of
 * workspace, refuses a stride, asserts that s >= 0. fail: always status 3. */
#include "coda/Runtime/coda_runtime.h"

#include <stdio.h>
#include <string.h>

static _Thread_local char text[256];
static const char *last_error(void) { return text; }

static int32_t refuse(int32_t status, const char *why) {
  snprintf(text, sizeof text, "scale: %s", why);
  return status;
}

static int32_t check(DLTensor *const *args, int32_t count) {
  if (count != 4)
    return refuse(CODA_ERROR_ARGUMENT, "expected 4 tensors");
  if (args[0]->dtype.code != kDLBfloat || args[0]->dtype.bits != 16)
    return refuse(CODA_ERROR_ARGUMENT, "argument 0 must be bf16");
  if (args[0]->ndim != 2 || args[0]->shape[1] != 4)
    return refuse(CODA_ERROR_ARGUMENT, "argument 0 must be ?x4");
  if (args[0]->strides && args[0]->shape[0] > 1 &&
      (args[0]->strides[0] != 4 || args[0]->strides[1] != 1))
    return refuse(CODA_ERROR_ARGUMENT, "argument 0 must be compact");
  return CODA_OK;
}

int32_t coda_scale_workspace(DLTensor *const *args, int32_t count,
                             size_t *bytes) {
  *bytes = 128;
  return check(args, count);
}

int32_t coda_scale_infer(DLTensor *const *args, int32_t count) {
  int32_t status = check(args, count);
  if (status)
    return status;
  args[2]->shape[0] = args[0]->shape[0];
  args[2]->shape[1] = 4;
  return CODA_OK;
}

int32_t coda_scale(const coda_ctx *ctx, DLTensor *const *args, int32_t count) {
  int32_t status = check(args, count);
  if (status)
    return status;
  if (ctx->size != sizeof(coda_ctx) || ctx->workspace_bytes < 128 ||
      (uintptr_t)ctx->workspace % 64)
    return refuse(CODA_ERROR_WORKSPACE, "the workspace is missing");
  int64_t rows = args[0]->shape[0];
  float s = *(const float *)((const char *)args[1]->data +
                             args[1]->byte_offset);
  if (s < 0)
    return refuse(CODA_ERROR_ASSERT, "s must not be negative");
  if (args[2]->ndim != 2 || args[2]->shape[0] != rows)
    return refuse(CODA_ERROR_ARGUMENT, "output 0 has the wrong shape");
  memcpy(args[2]->data, (const char *)args[0]->data + args[0]->byte_offset,
         (size_t)rows * 8);
  *(int64_t *)args[3]->data = (int64_t)((float)rows * s);
  return CODA_OK;
}

static int32_t fail_call(const coda_ctx *ctx, DLTensor *const *a, int32_t n) {
  (void)ctx, (void)a, (void)n;
  return refuse(CODA_ERROR_DEVICE, "no device");
}
static int32_t fail_workspace(DLTensor *const *a, int32_t n, size_t *bytes) {
  (void)a, (void)n;
  *bytes = 0;
  return CODA_OK;
}
static int32_t fail_infer(DLTensor *const *a, int32_t n) {
  (void)a, (void)n;
  return CODA_OK;
}

static const int64_t matrix[] = {-1, 4};
static const coda_arg_info args[] = {
    {"x", {kDLBfloat, 16, 1}, 2, matrix, -1},
    {"s", {kDLFloat, 32, 1}, 0, NULL, -1},
    {"y", {kDLBfloat, 16, 1}, 2, matrix, 0},
    {"n", {kDLInt, 64, 1}, 0, NULL, -1},
};
static const coda_entry_info entries[] = {
    {"scale", 2, 2, args, 1, coda_scale, coda_scale_workspace,
     coda_scale_infer},
    {"fail", 0, 1, args + 3, 0, fail_call, fail_workspace, fail_infer},
};
#ifndef VERSION
#define VERSION 1
#endif
static const coda_module module = {VERSION, "cpu",  "x86-64", 2,
                                   entries, NULL, last_error};
const coda_module *coda_module_v1(void) { return &module; }
