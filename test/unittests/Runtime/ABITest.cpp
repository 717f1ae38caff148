//===- ABITest.cpp - Layout of the C ABI ----------------------------------===//
//
// Part of the coda project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The structs that cross the boundary between a compiled artifact and its
// caller. Artifacts outlive the compiler that wrote them and python/coda lays
// the same structs out by hand, so an offset that moves is a break.
//
//===----------------------------------------------------------------------===//

#include "coda/Runtime/coda_runtime.h"

#include "gtest/gtest.h"

TEST(RuntimeABI, DLTensorIsDLPacks) {
  EXPECT_EQ(sizeof(DLTensor), 48u);
  EXPECT_EQ(offsetof(DLTensor, data), 0u);
  EXPECT_EQ(offsetof(DLTensor, device), 8u);
  EXPECT_EQ(offsetof(DLTensor, ndim), 16u);
  EXPECT_EQ(offsetof(DLTensor, dtype), 20u);
  EXPECT_EQ(offsetof(DLTensor, shape), 24u);
  EXPECT_EQ(offsetof(DLTensor, strides), 32u);
  EXPECT_EQ(offsetof(DLTensor, byte_offset), 40u);
}

TEST(RuntimeABI, Context) {
  EXPECT_EQ(sizeof(coda_ctx), 32u);
  EXPECT_EQ(offsetof(coda_ctx, device), 4u);
  EXPECT_EQ(offsetof(coda_ctx, stream), 8u);
  EXPECT_EQ(offsetof(coda_ctx, workspace), 16u);
  EXPECT_EQ(offsetof(coda_ctx, workspace_bytes), 24u);
}

TEST(RuntimeABI, ModuleTable) {
  EXPECT_EQ(sizeof(coda_arg_info), 32u);
  EXPECT_EQ(offsetof(coda_arg_info, dtype), 8u);
  EXPECT_EQ(offsetof(coda_arg_info, shape), 16u);
  EXPECT_EQ(offsetof(coda_arg_info, alias_of), 24u);
  EXPECT_EQ(sizeof(coda_entry_info), 56u);
  EXPECT_EQ(offsetof(coda_entry_info, args), 16u);
  EXPECT_EQ(offsetof(coda_entry_info, num_launches), 24u);
  EXPECT_EQ(offsetof(coda_entry_info, call), 32u);
  EXPECT_EQ(sizeof(coda_module), 56u);
  EXPECT_EQ(offsetof(coda_module, num_entries), 24u);
  EXPECT_EQ(offsetof(coda_module, entries), 32u);
  EXPECT_EQ(offsetof(coda_module, last_error), 48u);
}
