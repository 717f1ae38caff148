/*===- CudaDriver.c - the CUDA driver through dlopen
-----------------------===*\
|*
|* Part of the coda project, under the Apache License v2.0 with LLVM
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
\*===-----------------------------------------------------------------------===*/

#include "coda/Runtime/CudaDriver.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Finds one symbol; the copy through memcpy is the conversion from void * to a
   function pointer that ISO C allows. */
static int findSymbol(void *library, const char *symbol, void *slot,
                      char *error, size_t errorSize) {
  void *address = dlsym(library, symbol);
  if (!address) {
    snprintf(error, errorSize,
             "the CUDA driver has no function %s; install a driver for CUDA "
             "12.0 or newer",
             symbol);
    return 1;
  }
  memcpy(slot, &address, sizeof(address));
  return 0;
}

int coda_cuda_load(coda_cuda_driver *driver, char *error, size_t errorSize) {
  memset(driver, 0, sizeof(*driver));
  error[0] = 0;
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    snprintf(error, errorSize,
             "no CUDA driver: libcuda.so.1 cannot be loaded; run on a machine "
             "with an NVIDIA GPU and its driver");
    return 1;
  }
  int failed = 0;
#define CODA_CUDA_FIND(name, symbol, parameters)                               \
  failed = failed || findSymbol(library, symbol, (void *)&driver->name, error, \
                                errorSize);
  CODA_CUDA_FUNCTIONS(CODA_CUDA_FIND)
#undef CODA_CUDA_FIND
  if (!failed) {
    CUresult status = driver->Init(0);
    if (status != 0) {
      char text[256];
      coda_cuda_describe(driver, status, text, sizeof(text));
      snprintf(error, errorSize, "no GPU: the CUDA driver says %s", text);
      failed = 1;
    }
  }
  if (failed) {
    memset(driver, 0, sizeof(*driver));
    return 1;
  }
  driver->library = library;
  return 0;
}

void coda_cuda_describe(const coda_cuda_driver *driver, CUresult status,
                        char *text, size_t textSize) {
  const char *name = NULL;
  const char *what = NULL;
  if (driver->GetErrorName(status, &name) != 0 || !name)
    name = "unknown error";
  if (driver->GetErrorString(status, &what) != 0 || !what)
    what = "no text";
  snprintf(text, textSize, "%s (%s, code %d)", name, what, (int)status);
}
