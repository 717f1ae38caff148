/*===- HostSupport.c - Argument checks of compiled artifacts -------*- C -*-===*\
|*
|* Part of the coda project, under the Apache License v2.0 with LLVM
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
\*===-----------------------------------------------------------------------===*/

#include "HostSupport.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

static __thread char error_text[512];

/* In GPU artifacts only (GPULaunch.c). */
#define CODA_OPTIONAL __attribute__((weak, visibility("hidden")))
CODA_OPTIONAL int32_t coda_gpu_begin(const coda_ctx *, const coda_entry_info *,
                                     DLTensor *const *, int32_t, uint8_t *);
CODA_OPTIONAL int32_t coda_gpu_end(void);
CODA_OPTIONAL void coda_gpu_copy_argument(void *, const DLTensor *, int32_t,
                                          int32_t);
CODA_OPTIONAL const char *coda_gpu_last_error(void);

/* The text of what failed last: a check here, or the driver. */
const char *coda_host_last_error(void) {
  return error_text[0] || !coda_gpu_last_error ? error_text
                                               : coda_gpu_last_error();
}

static int32_t fail(int32_t status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(error_text, sizeof error_text, format, args);
  va_end(args);
  return status;
}

/*===-----------------------------------------------------------------------===*\
|* CPU
\*===-----------------------------------------------------------------------===*/

#if defined(__x86_64__)
static int32_t detect_features(void) {
  unsigned a, b, c, d, c1, b7, xcr0, high;
  int32_t found = 0;
  if (!__get_cpuid(1, &a, &b, &c1, &d) || !(c1 & bit_OSXSAVE))
    return 0;
  __asm__("xgetbv" : "=a"(xcr0), "=d"(high) : "c"(0));
  if ((xcr0 & 6) != 6 || !__get_cpuid_count(7, 0, &a, &b7, &c, &d))
    return 0;
  if (!__get_cpuid(0x80000001, &a, &b, &c, &d))
    return 0;
  if ((c1 & bit_AVX) && (c1 & bit_FMA) && (c1 & bit_F16C) &&
      (c1 & bit_MOVBE) && (c & bit_LZCNT) && (b7 & bit_AVX2) &&
      (b7 & bit_BMI) && (b7 & bit_BMI2))
    found |= CODA_CPU_AVX2;
  if ((xcr0 & 0xe6) == 0xe6 && (b7 & bit_AVX512F) && (b7 & bit_AVX512BW) &&
      (b7 & bit_AVX512CD) && (b7 & bit_AVX512DQ) && (b7 & bit_AVX512VL))
    found |= CODA_CPU_AVX512;
  return found;
}
#else
static int32_t detect_features(void) { return 0; }
#endif

/* Whether this machine runs the code. The answer is the same in every thread,
   so writing it twice is harmless. */
static int32_t check_cpu(const coda_host_entry *entry) {
  static volatile int32_t known = -1;
  int32_t features = known;
  if (features < 0)
    known = features = detect_features();
  if ((features & entry->cpu_features) != entry->cpu_features)
    return fail(CODA_ERROR_DEVICE,
                "%s: compiled for the CPU '%s', which has instructions that "
                "this machine lacks; compile with --cpu=native here",
                entry->info->name, entry->cpu);
  return CODA_OK;
}

/*===-----------------------------------------------------------------------===*\
|* Arguments
\*===-----------------------------------------------------------------------===*/

static const char *type_name(DLDataType type, char *buffer, size_t size) {
  const char *code = type.code == kDLInt      ? "i"
                     : type.code == kDLUInt   ? "u"
                     : type.code == kDLFloat  ? "f"
                     : type.code == kDLBfloat ? "bf"
                     : type.code == kDLBool   ? "bool"
                                              : "type code ";
  if (type.lanes > 1)
    snprintf(buffer, size, "%s%d x %d lanes", code, type.bits, type.lanes);
  else if (type.code == kDLBool && type.bits == 8)
    return "bool";
  else if (type.code == kDLFloat8_e4m3fn && type.bits == 8)
    return "f8E4M3FN";
  else if (type.code == kDLFloat8_e5m2 && type.bits == 8)
    return "f8E5M2";
  else if (type.code > kDLBool || type.code == 3 || type.code == 5)
    snprintf(buffer, size, "type code %d of %d bits", type.code, type.bits);
  else
    snprintf(buffer, size, "%s%d", code, type.bits);
  return buffer;
}

/* Checks one tensor against its description: always the rank, with `shapes`
   dtype and extents too, for a call (`ctx`) also device and pointer. */
static int32_t check_tensor(const coda_entry_info *info, int32_t index,
                            const DLTensor *tensor, int shapes,
                            const coda_ctx *ctx) {
  const coda_arg_info *want = &info->args[index];
  char got_type[48], want_type[48];
  int64_t elements = 1;
  int32_t dim;
  if (!tensor)
    return fail(CODA_ERROR_ARGUMENT, "%s: argument %d (%s) is NULL", info->name,
                index, want->name);
  if (tensor->ndim != want->ndim)
    return fail(CODA_ERROR_ARGUMENT,
                "%s: argument %d (%s) has rank %d, expected %d", info->name,
                index, want->name, tensor->ndim, want->ndim);
  if (tensor->ndim && !tensor->shape)
    return fail(CODA_ERROR_ARGUMENT, "%s: argument %d (%s) has no shape",
                info->name, index, want->name);
  if (!shapes)
    return CODA_OK;
  if (tensor->dtype.code != want->dtype.code ||
      tensor->dtype.bits != want->dtype.bits || tensor->dtype.lanes != 1)
    return fail(CODA_ERROR_ARGUMENT,
                "%s: argument %d (%s) has dtype %s, expected %s", info->name,
                index, want->name,
                type_name(tensor->dtype, got_type, sizeof got_type),
                type_name(want->dtype, want_type, sizeof want_type));
  for (dim = 0; dim < tensor->ndim; ++dim) {
    if (tensor->shape[dim] < 0 ||
        (want->shape[dim] >= 0 && tensor->shape[dim] != want->shape[dim]))
      return fail(CODA_ERROR_ARGUMENT,
                  "%s: argument %d (%s) has extent %lld in dimension %d, "
                  "expected %s%lld",
                  info->name, index, want->name, (long long)tensor->shape[dim],
                  dim, want->shape[dim] < 0 ? "at least " : "",
                  (long long)(want->shape[dim] < 0 ? 0 : want->shape[dim]));
    elements *= tensor->shape[dim];
  }
  if (!ctx)
    return CODA_OK;
  if (coda_gpu_begin) {
    if (tensor->device.device_type != kDLCUDA)
      return fail(CODA_ERROR_ARGUMENT,
                  "%s: argument %d (%s) is on device type %d, expected a CUDA "
                  "device",
                  info->name, index, want->name,
                  (int)tensor->device.device_type);
    if (tensor->device.device_id != ctx->device)
      return fail(CODA_ERROR_ARGUMENT,
                  "%s: argument %d (%s) is on CUDA device %d, expected %d, the "
                  "device of the call",
                  info->name, index, want->name, tensor->device.device_id,
                  ctx->device);
  } else if (tensor->device.device_type != kDLCPU &&
             tensor->device.device_type != kDLCUDAHost)
    return fail(CODA_ERROR_ARGUMENT,
                "%s: argument %d (%s) is on device type %d, expected the CPU",
                info->name, index, want->name,
                (int)tensor->device.device_type);
  if (elements == 0)
    return CODA_OK;
  if (!tensor->data)
    return fail(CODA_ERROR_ARGUMENT, "%s: argument %d (%s) has no data",
                info->name, index, want->name);
  if (((uintptr_t)tensor->data + tensor->byte_offset) %
      (want->dtype.bits / 8 ? want->dtype.bits / 8 : 1))
    return fail(CODA_ERROR_ARGUMENT,
                "%s: argument %d (%s) is not aligned to its element",
                info->name, index, want->name);
  if (tensor->strides && index >= info->num_inputs)
    for (dim = 0; dim < tensor->ndim; ++dim)
      if (tensor->shape[dim] != 1 && tensor->strides[dim] == 0)
        return fail(CODA_ERROR_ARGUMENT,
                    "%s: argument %d (%s) has stride 0 in dimension %d: the "
                    "elements of an output must lie apart",
                    info->name, index, want->name, dim);
  return CODA_OK;
}

/* Checks the count, and the inputs with their equal extents. */
static int32_t check_inputs(const coda_host_entry *entry,
                            DLTensor *const *args, int32_t nargs,
                            const coda_ctx *ctx) {
  const coda_entry_info *info = entry->info;
  const int32_t *extent_class = entry->extent_class;
  int32_t index, other, dim, other_dim, at, other_at;
  int32_t status = check_cpu(entry);
  if (status)
    return status;
  if (nargs != info->num_inputs + info->num_outputs || !args)
    return fail(CODA_ERROR_ARGUMENT,
                "%s: got %d arguments, expected %d (%d inputs and %d outputs)",
                info->name, args ? nargs : 0,
                info->num_inputs + info->num_outputs, info->num_inputs,
                info->num_outputs);
  for (index = 0; index < info->num_inputs; ++index)
    if ((status = check_tensor(info, index, args[index], 1, ctx)))
      return status;
  if (!extent_class)
    return CODA_OK;
  for (index = at = 0; index < info->num_inputs; ++index)
    for (dim = 0; dim < info->args[index].ndim; ++dim, ++at) {
      if (extent_class[at] < 0)
        continue;
      /* The first extent of the class is what the others must be. */
      for (other = other_at = 0; other <= index; ++other)
        for (other_dim = 0; other_dim < info->args[other].ndim && other_at < at;
             ++other_dim, ++other_at)
          if (extent_class[other_at] == extent_class[at] &&
              args[other]->shape[other_dim] != args[index]->shape[dim])
            return fail(
                CODA_ERROR_ARGUMENT,
                "%s: argument %d (%s) has extent %lld in dimension %d, "
                "expected %lld as argument %d (%s) has in dimension %d",
                info->name, index, info->args[index].name,
                (long long)args[index]->shape[dim], dim,
                (long long)args[other]->shape[other_dim], other,
                info->args[other].name, other_dim);
    }
  return CODA_OK;
}

/* Visits the outputs with their extents: writes them where `write` is set, else
   compares them. */
static int32_t visit_outputs(const coda_host_entry *entry,
                             DLTensor *const *args, int write,
                             const coda_ctx *ctx) {
  const coda_entry_info *info = entry->info;
  const int32_t end = info->num_inputs + info->num_outputs;
  int32_t index, dim, status, dynamic = 0, next = 0;
  for (index = info->num_inputs; index < end; ++index) {
    if ((status = check_tensor(info, index, args[index], !write, ctx)))
      return status;
    for (dim = 0; dim < info->args[index].ndim; ++dim)
      dynamic += info->args[index].shape[dim] < 0;
  }
  {
    int64_t extents[dynamic + 1];
    if (entry->infer)
      entry->infer(args, extents);
    for (index = info->num_inputs; index < end; ++index)
      for (dim = 0; dim < info->args[index].ndim; ++dim) {
        int64_t want = info->args[index].shape[dim];
        if (want < 0)
          want = extents[next++];
        if (write)
          args[index]->shape[dim] = want;
        else if (args[index]->shape[dim] != want)
          return fail(CODA_ERROR_ARGUMENT,
                      "%s: argument %d (%s) has extent %lld in dimension %d, "
                      "expected %lld, which follows from the inputs",
                      info->name, index, info->args[index].name,
                      (long long)args[index]->shape[dim], dim,
                      (long long)want);
      }
  }
  return CODA_OK;
}

/*===-----------------------------------------------------------------------===*\
|* Arguments that the code takes a copy of
\*===-----------------------------------------------------------------------===*/

/* Copies begin at multiples of this in the workspace. */
#define COPY_ALIGN 256
/* What the copy engine of a GPU needs of an address. */
#define GPU_ALIGN 16

static size_t bytes_of(const DLTensor *tensor) {
  size_t bytes = tensor->dtype.bits / 8;
  int32_t dim;
  for (dim = 0; dim < tensor->ndim; ++dim)
    bytes *= (size_t)tensor->shape[dim];
  return bytes;
}

/* Whether the elements follow each other in row-major order. */
static int is_compact(const DLTensor *tensor) {
  int64_t expected = 1;
  int32_t dim;
  if (!tensor->strides || bytes_of(tensor) == 0)
    return 1;
  for (dim = tensor->ndim - 1; dim >= 0; --dim) {
    if (tensor->shape[dim] != 1 && tensor->strides[dim] != expected)
      return 0;
    expected *= tensor->shape[dim];
  }
  return 1;
}

/* Makes `own` the arguments that the code works on: those of `args`, or, where
   `moved` says so, compact tensors of `copies`, which lie in the workspace from
   byte `at` on. Returns the end of the last; 0 bytes more if there are none. */
static size_t place(DLTensor *const *args, const uint8_t *moved, int32_t nargs,
                    char *workspace, size_t at, DLTensor *copies,
                    DLTensor **own) {
  int32_t i;
  for (i = 0; i < nargs; ++i) {
    own[i] = args[i];
    if (!moved[i])
      continue;
    at = (at + COPY_ALIGN - 1) / COPY_ALIGN * COPY_ALIGN;
    copies[i] = *args[i];
    copies[i].data = workspace ? workspace + at : NULL;
    copies[i].byte_offset = 0;
    copies[i].strides = NULL;
    own[i] = &copies[i];
    at += bytes_of(args[i]);
  }
  return at;
}

/* Copies dims `dim` and on between memory in order and a strided tensor; returns
   what follows in the first. */
static char *copy_dims(char *compact, char *strided, const DLTensor *tensor,
                       int32_t dim, int out) {
  const size_t width = tensor->dtype.bits / 8;
  int64_t i, run = 1;
  if (dim == tensor->ndim || (dim == tensor->ndim - 1 &&
                              tensor->strides[dim] == 1)) {
    if (dim < tensor->ndim)
      run = tensor->shape[dim];
    memcpy(out ? strided : compact, out ? compact : strided,
           (size_t)run * width);
    return compact + (size_t)run * width;
  }
  for (i = 0; i < tensor->shape[dim]; ++i)
    compact = copy_dims(compact,
                        strided + i * tensor->strides[dim] * (int64_t)width,
                        tensor, dim + 1, out);
  return compact;
}

static void copy_argument(DLTensor *own, const DLTensor *tensor, int out) {
  if (coda_gpu_copy_argument)
    coda_gpu_copy_argument(own->data, tensor, is_compact(tensor), out);
  else
    copy_dims((char *)own->data, (char *)tensor->data + tensor->byte_offset,
              tensor, 0, out);
}

/* Runs the body once on `own`; with `check` a GPU launches nothing. */
static int32_t run(const coda_host_entry *entry, const coda_ctx *ctx,
                   DLTensor *const *args, DLTensor **own, int32_t nargs,
                   int32_t check, uint8_t *unaligned) {
  const int32_t inputs = entry->info->num_inputs;
  int32_t i, status, assertion;
  if (coda_gpu_begin &&
      (status = coda_gpu_begin(ctx, entry->info, own, check, unaligned)))
    return status;
  for (i = 0; i < inputs; ++i)
    if (own[i] != args[i])
      copy_argument(own[i], args[i], 0);
  assertion = entry->body(own, ctx->workspace);
  for (i = inputs; i < nargs && !assertion; ++i)
    if (own[i] != args[i])
      copy_argument(own[i], args[i], 1);
  status = coda_gpu_begin ? coda_gpu_end() : CODA_OK;
  if (assertion)
    return fail(CODA_ERROR_ASSERT, "%s: %s", entry->info->name,
                entry->asserts[assertion - 1]);
  return status;
}

/*===-----------------------------------------------------------------------===*\
|* The functions behind the exported ones
\*===-----------------------------------------------------------------------===*/

int32_t coda_host_infer(const coda_host_entry *entry, DLTensor *const *args,
                        int32_t nargs) {
  int32_t status;
  error_text[0] = 0;
  if ((status = check_inputs(entry, args, nargs, NULL)))
    return status;
  return visit_outputs(entry, args, 1, NULL);
}

int32_t coda_host_workspace(const coda_host_entry *entry,
                            DLTensor *const *args, int32_t nargs,
                            size_t *bytes) {
  int32_t i, status;
  error_text[0] = 0;
  if (!bytes)
    return fail(CODA_ERROR_ARGUMENT, "%s: no place for the number of bytes",
                entry->info->name);
  if ((status = check_inputs(entry, args, nargs, NULL)) ||
      (status = visit_outputs(entry, args, 0, NULL)))
    return status;
  *bytes = (size_t)entry->workspace(args);
  {
    uint8_t moved[nargs + 1];
    DLTensor copies[nargs + 1], *own[nargs + 1];
    /* Which addresses a GPU's kernels need aligned the call finds out. */
    for (i = 0; i < nargs; ++i)
      moved[i] = !is_compact(args[i]) ||
                 (coda_gpu_begin && bytes_of(args[i]) &&
                  ((uintptr_t)args[i]->data + args[i]->byte_offset) % GPU_ALIGN);
    *bytes = place(args, moved, nargs, NULL, *bytes, copies, own);
  }
  return CODA_OK;
}

int32_t coda_host_call(const coda_host_entry *entry, const coda_ctx *ctx,
                       DLTensor *const *args, int32_t nargs) {
  int32_t i, status, again;
  size_t need, code;
  error_text[0] = 0;
  if (!ctx || ctx->size < sizeof(coda_ctx))
    return fail(CODA_ERROR_ARGUMENT,
                "%s: coda_ctx of %u bytes, expected at least %u; set its size",
                entry->info->name, ctx ? ctx->size : 0,
                (unsigned)sizeof(coda_ctx));
  if ((status = check_inputs(entry, args, nargs, ctx)) ||
      (status = visit_outputs(entry, args, 0, ctx)))
    return status;
  code = (size_t)entry->workspace(args);
  {
    uint8_t moved[nargs + 1];
    DLTensor copies[nargs + 1], *own[nargs + 1];
    for (i = 0; i < nargs; ++i)
      moved[i] = !is_compact(args[i]);
    do {
      uint8_t unaligned[nargs + 1];
      again = 0;
      need = place(args, moved, nargs, (char *)ctx->workspace, code, copies,
                   own);
      if (need && (!ctx->workspace || ctx->workspace_bytes < need))
        return fail(CODA_ERROR_WORKSPACE,
                    "%s: workspace of %zu bytes, expected at least %zu%s (see "
                    "coda_%s_workspace)",
                    entry->info->name,
                    ctx->workspace ? ctx->workspace_bytes : 0, need,
                    need == code ? ""
                                 : ", with copies of arguments that are not "
                                   "compact or not aligned",
                    entry->info->name);
      if (need && (uintptr_t)ctx->workspace % 64)
        return fail(CODA_ERROR_WORKSPACE,
                    "%s: the workspace is not aligned to 64 bytes",
                    entry->info->name);
      if (!coda_gpu_begin)
        break;
      /* On a GPU the body only launches: first to check, then in earnest. What
         its kernels cannot use where it is gets a copy, too. */
      memset(unaligned, 0, sizeof unaligned);
      if ((status = run(entry, ctx, args, own, nargs, 1, unaligned)))
        return status;
      for (i = 0; i < nargs; ++i)
        if (unaligned[i] && !moved[i])
          again = moved[i] = 1;
    } while (again);
    return run(entry, ctx, args, own, nargs, 0, NULL);
  }
}
