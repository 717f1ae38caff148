/* RUN: %host_cc -std=c99 -pedantic -Wall -Wextra -Werror -fsyntax-only -I%coda_src_root/include %s
 * RUN: %host_cxx -std=c++17 -pedantic -Wall -Wextra -Werror -fsyntax-only -x c++ -I%coda_src_root/include %s
 *
 * The runtime's header is C: it needs nothing but a C99 compiler. Included
 * twice for its guard. */
#include "coda/Runtime/coda_runtime.h"
#include "coda/Runtime/coda_runtime.h"

int32_t call(const coda_module *module, DLTensor *const *args, int32_t count);

int32_t call(const coda_module *module, DLTensor *const *args, int32_t count) {
  coda_ctx ctx = {sizeof(coda_ctx), 0, NULL, NULL, 0};
  if (module->version != 1 || module->num_entries < 1)
    return CODA_ERROR_ARGUMENT;
  return module->entries[0].call(&ctx, args, count);
}
