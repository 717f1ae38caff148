/* Calls `main` of an artifact: (x: f32[?x4]) -> (y: f32[?x4]). C99 and dlopen.
 * usage: call ARTIFACT.so */
#include "coda/Runtime/coda_runtime.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const coda_entry_info *find(const coda_module *module,
                                   const char *name) {
  for (int32_t i = 0; i < module->num_entries; ++i)
    if (!strcmp(module->entries[i].name, name))
      return &module->entries[i];
  return NULL;
}

int main(int argc, char **argv) {
  void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
  void *symbol = library ? dlsym(library, "coda_module_v1") : NULL;
  if (!symbol) {
    fprintf(stderr, "error: no artifact: %s\n", argc == 2 ? dlerror() : "");
    return 2;
  }
  coda_module_v1_fn table;
  memcpy(&table, &symbol, sizeof table); /* ISO C has no cast for this. */
  const coda_module *module = table();
  const coda_entry_info *entry = find(module, "main");
  if (module->version != 1 || !entry)
    return 2;
  printf("%s: %d input, %d output\n", entry->name, (int)entry->num_inputs,
         (int)entry->num_outputs);

  float x[3][4], *y;
  for (int i = 0; i < 12; ++i)
    x[i / 4][i % 4] = (float)i;
  int64_t xShape[2] = {3, 4}, yShape[2] = {-1, -1};
  DLTensor in = {x, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, xShape, NULL, 0};
  DLTensor out = {NULL, {kDLCPU, 0}, 2, {kDLFloat, 32, 1}, yShape, NULL, 0};
  DLTensor *const args[2] = {&in, &out};

  /* Shapes and workspace first, then the call. */
  size_t bytes = 0;
  if (entry->infer(args, 2) || entry->workspace(args, 2, &bytes)) {
    fprintf(stderr, "error: %s\n", module->last_error());
    return 2;
  }
  y = malloc((size_t)(yShape[0] * yShape[1]) * sizeof *y);
  char *storage = malloc(bytes + 64);
  out.data = y;
  coda_ctx ctx = {sizeof ctx, 0, NULL, NULL, bytes};
  ctx.workspace = storage + (64 - (uintptr_t)storage % 64) % 64;
  if (entry->call(&ctx, args, 2)) {
    fprintf(stderr, "error: %s\n", module->last_error());
    return 2;
  }
  printf("%dx%d:", (int)yShape[0], (int)yShape[1]);
  for (int i = 0; i < 12; ++i)
    printf(" %g", (double)y[i]);
  printf("\n");

  /* A refused call has written nothing and says why. */
  in.dtype.bits = 64;
  y[0] = -1;
  int status = entry->call(&ctx, args, 2);
  printf("status %d: %s\ny[0] = %g\n", status, module->last_error(),
         (double)y[0]);
  free(storage);
  free(y);
  dlclose(library);
  return 0;
}
