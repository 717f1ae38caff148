// The dialect and the passes in the distribution's own mlir-opt; there they also
// fuse a real graph into its four launches.
// RUN: mlir-opt --load-dialect-plugin=%coda_libs/CodaPlugin%shlibext \
// RUN:   --load-pass-plugin=%coda_libs/CodaPlugin%shlibext \
// RUN:   --pass-pipeline='builtin.module(func.func(coda-decompose))' %s | FileCheck %s
// RUN: mlir-opt --load-dialect-plugin=%coda_libs/CodaPlugin%shlibext \
// RUN:   --load-pass-plugin=%coda_libs/CodaPlugin%shlibext \
// RUN:   --pass-pipeline='builtin.module(coda-fuse-pipeline)' %coda_src_root/test/Graphs/llama3_block_bf16.mlir \
// RUN:   | FileCheck %s --check-prefix=GRAPH

// GRAPH-COUNT-4: call @[[KERNEL:[a-z_0-9]+]](
// GRAPH-NOT: linalg.
// GRAPH-COUNT-4: attributes {coda.kernel
// GRAPH-NOT: linalg.

// CHECK-LABEL: func.func @scale
// CHECK-SAME: (%[[V:.+]]: tensor<8x4xf32>, %[[R:.+]]: tensor<8xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[R]], %[[V]] : tensor<8xf32>, tensor<8x4xf32>)
// CHECK-NOT: coda.
func.func @scale(%v: tensor<8x4xf32>, %r: tensor<8xf32>) -> tensor<8x4xf32> {
  %0 = coda.scale %v, %r along [0] : tensor<8x4xf32>, tensor<8xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
