// RUN: coda-opt %s --coda-gpu-finalize-abi | FileCheck %s

gpu.module @k {
  // The swizzle repeats every 1024 bytes.
  // CHECK: llvm.mlir.global external @__dynamic_shmem__0()
  // CHECK-SAME: alignment = 1024
  llvm.mlir.global internal @__dynamic_shmem__0() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>

  // CHECK: llvm.func @kernel
  // CHECK-SAME: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}
  // CHECK-SAME: !llvm.ptr<1>,
  // CHECK-SAME: !llvm.ptr {llvm.align = 16 : i64})
  llvm.func @kernel(%map: !llvm.ptr {llvm.align = 64 : i64}, %data: !llvm.ptr<1>, %other: !llvm.ptr {llvm.align = 16 : i64}) attributes {nvvm.kernel} {
    llvm.return
  }

  // Not a kernel: not touched.
  // CHECK: llvm.func @helper
  // CHECK-SAME: !llvm.ptr {llvm.align = 64 : i64})
  llvm.func @helper(%p: !llvm.ptr {llvm.align = 64 : i64}) {
    llvm.return
  }
}
