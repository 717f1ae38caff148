/*===- gpu-calls.c - Calls a GPU artifact with what it has to refuse -------===*\
|*
|* Part of the coda project, under the Apache License v2.0 with LLVM
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
\*===-----------------------------------------------------------------------===*/

#include "coda/Runtime/coda_runtime.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const coda_module *module;
static const coda_entry_info *entry;

static void report(const char *what, int32_t status) {
  printf("%s: %d%s%s\n", what, status, status ? ": " : "",
         status ? module->last_error() : "");
}

/* Calls the entry on `device` with arguments on `where`; argument `moved` lies
   `by` bytes behind an aligned address, `strided` is every other column of a
   matrix. */
static void callOn(const char *what, int32_t device, int32_t where,
                   int32_t moved, int by, int32_t strided) {
  int64_t strides[] = {0, 2};
  int32_t i, count = entry->num_inputs + entry->num_outputs;
  DLTensor tensors[8];
  DLTensor *args[8];
  coda_ctx ctx;
  memset(tensors, 0, sizeof(tensors));
  for (i = 0; i < count; ++i) {
    tensors[i].device.device_type = kDLCUDA;
    tensors[i].device.device_id = where;
    tensors[i].dtype = entry->args[i].dtype;
    tensors[i].ndim = entry->args[i].ndim;
    tensors[i].shape = (int64_t *)entry->args[i].shape;
    /* Nothing is read: 1 MB apart is enough. */
    tensors[i].data = (char *)0 + ((uintptr_t)(i + 1) << 20) + (i == moved ? by : 0);
    if (i == strided) {
      strides[0] = 2 * tensors[i].shape[1];
      tensors[i].strides = strides;
    }
    args[i] = &tensors[i];
  }
  memset(&ctx, 0, sizeof(ctx));
  ctx.size = sizeof(ctx);
  ctx.device = device;
  ctx.stream = (void *)7;
  ctx.workspace = (void *)((uintptr_t)64 << 20);
  if (entry->workspace(args, count, &ctx.workspace_bytes))
    report("workspace", 1);
  report(what, entry->call(&ctx, args, count));
}

static void call(const char *what, int32_t device, int32_t where, int32_t moved,
                 int by) {
  callOn(what, device, where, moved, by, -1);
}

int main(int argc, char **argv) {
  void *library = dlopen(argv[1], RTLD_NOW);
  const coda_module *(*table)(void);
  if (!library) {
    printf("%s\n", dlerror());
    return 1;
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  *(void **)&table = dlsym(library, "coda_module_v1");
  module = table();
  entry = &module->entries[0];
  if (argc > 2) { /* with ranges */
    report("init", module->init(0));
    call("call", 0, 0, -1, 0);
    return 0;
  }
  call("before init", 0, 0, -1, 0);
  report("init of device 0", module->init(0));
  report("init again", module->init(0));
  call("good", 0, 0, -1, 0);
  call("factor off by 2 bytes", 0, 0, 0, 2);
  call("second factor of the second kernel off by 8 bytes", 0, 0, 2, 8);
  call("vector off by one element", 0, 0, 3, 2);
  call("vector off by two elements", 0, 0, 3, 4);
  callOn("strided result off by 8 bytes", 0, 0, 4, 8, 4);
  callOn("strided factor, vector off by one element", 0, 0, 3, 2, 2);
  /* Argument 2 is 2 MB before the result, argument 3 is 1 MB before it. */
  call("result on the second factor", 0, 0, 4, -(2 << 20));
  call("result begins in the second factor", 0, 0, 4, -(2 << 20) + 4096);
  call("result behind the second factor", 0, 0, 4, -(2 << 20) + 12288);
  call("result on the vector", 0, 0, 4, -(1 << 20));
  call("factor off by one byte", 0, 0, 0, 1);
  call("tensors of another device", 0, 1, -1, 0);
  call("device 1 before init", 1, 1, -1, 0);
  report("init of device 1", module->init(1));
  call("device 1", 1, 1, -1, 0);
  report("init of device 2", module->init(2));
  report("init of device 3", module->init(3));
  report("init of device 4", module->init(4));
  report("init of device 99", module->init(99));
  return 0;
}
