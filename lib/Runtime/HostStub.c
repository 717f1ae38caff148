/*===- HostStub.c - A library that only has a name ----------------*- C -*-===*\
|*
|* Part of the coda project, under the Apache License v2.0 with LLVM
|* Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
|*
\*===-----------------------------------------------------------------------===*/

/* An ISO C translation unit is not empty. */
typedef int coda_stub;
