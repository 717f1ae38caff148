// --cpu says what the code on the host needs, with a GPU, too; --no-fuse leaves what
// --grad derives as it is, one op a kernel.

// RUN: coda-compile %s --target=sm_90a --emit=llvm -o - | FileCheck %s --check-prefix=V3
// V3: constant [10 x i8] c"x86-64-v3\00"
// V3: "target-cpu"="x86-64-v3"
// RUN: coda-compile %s --target=sm_90a --cpu=native --emit=llvm -o - | FileCheck %s --check-prefix=NATIVE
// NATIVE-NOT: "target-cpu"="x86-64-v3"
// NATIVE: "target-cpu"="

// RUN: coda-compile %s --grad --emit=fused -o - | FileCheck %s --check-prefix=FUSED
// FUSED: func.func private @{{.*}}gemm
// FUSED: coda.kernel
// RUN: coda-compile %s --grad --no-fuse --emit=fused -o - | FileCheck %s --check-prefix=UNFUSED
// UNFUSED-LABEL: func.func @main(
// UNFUSED-SAME:    %[[X:[a-z0-9]+]]: tensor<32x64xf32>, %[[W:[a-z0-9]+]]: tensor<64x64xf32>
// UNFUSED:         %[[Y:.*]] = coda.gemm
// UNFUSED-NEXT:      acc(%[[X]][m, k] * %[[W]][k, n] :
// UNFUSED:         coda.map
// UNFUSED-NEXT:      ins(%[[Y]][m, n] :
// UNFUSED-NOT:   coda.kernel

// RUN: coda-run %s --grad --differences --seed=1 --repeat=0 | FileCheck %s --check-prefix=GOOD
// GOOD: all gradients are good

func.func @main(%x: tensor<32x64xf32>, %w: tensor<64x64xf32>) -> tensor<32x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x64xf32>) -> tensor<32x64xf32>
  %y = linalg.matmul ins(%x, %w : tensor<32x64xf32>, tensor<64x64xf32>) outs(%f : tensor<32x64xf32>) -> tensor<32x64xf32>
  %t = math.tanh %y : tensor<32x64xf32>
  return %t : tensor<32x64xf32>
}
