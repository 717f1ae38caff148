/*===- strided.c - Calls an artifact that doubles a matrix, by strides ------===*\
|*
|* Part of the coda project, under the Apache License v2.0 with LLVM
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
\*===-----------------------------------------------------------------------===*/

#include "coda/Runtime/coda_runtime.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 4, COLUMNS = 6, SIZE = 400, MIDDLE = 200 };

static const coda_module *module;
static const coda_entry_info *entry;
static size_t least;

/* Calls with an input and an output that begin `x` and `y` elements into their
   memory and have the strides `xs` and `ys`, or are compact. */
static void call(const char *what, int x, int64_t *xs, int y, int64_t *ys,
                 int hasWorkspace) {
  static float in[SIZE], out[SIZE];
  int64_t shape[] = {ROWS, COLUMNS}, dense[] = {COLUMNS, 1};
  DLTensor tensors[2] = {{in, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, xs, 4 * x},
                         {out, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, shape, ys, 4 * y}};
  DLTensor *args[] = {&tensors[0], &tensors[1]};
  coda_ctx ctx = {sizeof(coda_ctx), 0, NULL, NULL, 0};
  int i, j, right = 1, written = 0;
  size_t bytes = 0;
  for (i = 0; i < SIZE; ++i) {
    in[i] = (float)i;
    out[i] = -1;
  }
  entry->workspace(args, 2, &bytes);
  if (hasWorkspace && bytes) {
    ctx.workspace = aligned_alloc(64, (bytes + 63) / 64 * 64);
    ctx.workspace_bytes = bytes;
  }
  int32_t status = entry->call(&ctx, args, 2);
  if (status) {
    printf("%s: %d: %s\n", what, status, module->last_error());
    return;
  }
  xs = xs ? xs : dense;
  ys = ys ? ys : dense;
  for (i = 0; i < ROWS; ++i)
    for (j = 0; j < COLUMNS; ++j)
      right &= out[y + i * ys[0] + j * ys[1]] == 2 * in[x + i * xs[0] + j * xs[1]];
  for (i = 0; i < SIZE; ++i)
    written += out[i] != -1;
  if (least == (size_t)-1)
    least = bytes;
  printf("%s: %d, %zu bytes more, %s\n", what, status, bytes - least,
         right && written == ROWS * COLUMNS ? "right" : "wrong");
  free(ctx.workspace);
}

int main(int argc, char **argv) {
  void *library = dlopen(argv[1], RTLD_NOW);
  const coda_module *(*table)(void);
  int64_t apart[] = {10, 1}, transposed[] = {1, ROWS}, back[] = {-COLUMNS, -1},
          repeated[] = {0, 1}, both[] = {2, 20};
  *(void **)&table = dlsym(library, "coda_module_v1");
  module = table();
  entry = &module->entries[0];
  least = (size_t)-1;
  call("compact", 0, NULL, 0, NULL, 1);
  call("rows apart", 3, apart, 0, NULL, 1);
  call("transposed", 0, transposed, 0, NULL, 1);
  call("backwards", MIDDLE, back, 0, NULL, 1);
  call("one row for all", 5, repeated, 0, NULL, 1);
  call("result apart", 0, NULL, 7, apart, 1);
  call("both", 1, transposed, 9, both, 1);
  call("off by two elements", 2, NULL, 2, NULL, 1);
  call("without the workspace", 0, apart, 0, NULL, 0);
  call("results over each other", 0, NULL, 0, repeated, 1);
  return 0;
}
