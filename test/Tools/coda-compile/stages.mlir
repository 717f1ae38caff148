// RUN: coda-compile %s --no-fuse --emit=llvm -o - | FileCheck %s --check-prefix=LLVM
// RUN: coda-compile %s --emit=fused --report=%t.json -o - | FileCheck %s --check-prefix=FUSED
// RUN: FileCheck %s --check-prefix=REPORT < %t.json
// RUN: coda-compile %s --cpu=native -o %t.so && llvm-readelf --dynamic %t.so | FileCheck %s --check-prefix=NEEDED

// LLVM: define i32 @coda_main(ptr %{{.*}}, ptr %{{.*}}, i32 %{{.*}})
// LLVM: "target-cpu"="x86-64-v3"

// FUSED: func.func @main
// FUSED: %[[R:.*]] = call @[[KERNEL:[a-z0-9_]+]](
// FUSED: func.func private @[[KERNEL]]
// FUSED: coda.gemm

// REPORT: "functions": [
// REPORT: "launches": [
// REPORT-NEXT: "[[KERNEL:.*]]"
// REPORT: "name": "main"
// REPORT: "kernels": [
// REPORT: "name": "[[KERNEL]]"
// REPORT-NEXT: "ops": [
// REPORT-NEXT: "coda.gemm"

// NEEDED-DAG: (NEEDED) Shared library: [libc.so.6]
// NEEDED-DAG: (NEEDED) Shared library: [libm.so.6]
// NEEDED-NOT: libMLIR
func.func @main(%x: tensor<8x4xf32>, %w: tensor<6x4xf32>) -> tensor<8x6xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %t = linalg.transpose ins(%w : tensor<6x4xf32>) outs(%e : tensor<4x6xf32>) permutation = [1, 0]
  %c = tensor.empty() : tensor<8x6xf32>
  %f = linalg.fill ins(%z : f32) outs(%c : tensor<8x6xf32>) -> tensor<8x6xf32>
  %r = linalg.matmul ins(%x, %t : tensor<8x4xf32>, tensor<4x6xf32>) outs(%f : tensor<8x6xf32>) -> tensor<8x6xf32>
  return %r : tensor<8x6xf32>
}
