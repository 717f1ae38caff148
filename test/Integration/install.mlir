// An outside project finds the installed package, links Coda::CodaTransforms,
// and runs passes that it put together in C++.
// RUN: rm -rf %t && mkdir %t
// RUN: %cmake --install %coda_obj_root --prefix %t/prefix --component Development > %t/log
// RUN: %cmake -G Ninja -S %coda_src_root/test/install -B %t/build \
// RUN:   -DCMAKE_PREFIX_PATH="%t/prefix;%llvm_prefix" -DCMAKE_BUILD_TYPE=Release \
// RUN:   -DCMAKE_C_COMPILER=%host_cc -DCMAKE_CXX_COMPILER=%host_cxx \
// RUN:   -DCMAKE_CXX_FLAGS="%cxx_flags" -DCMAKE_EXE_LINKER_FLAGS="%linker_flags" >> %t/log
// RUN: %cmake --build %t/build >> %t/log
// RUN: %t/build/consumer %s | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.+]]: tensor<64x32xf32>, %[[W:.+]]: tensor<32x16xf32>, %[[RES:.+]]: tensor<64x16xf32>)
// CHECK: call @[[KERNEL:.+]](%[[X]], %[[W]], %[[RES]], %{{.+}})
// CHECK: func.func private @[[KERNEL]]({{.*}}attributes {coda.kernel
// CHECK: coda.gemm
// CHECK-NEXT: acc(%{{.+}}[m, k] * %{{.+}}[k, n] :
// CHECK: ^bb0(%[[ACC:.+]]: f32, %[[R:.+]]: f32):
// CHECK-NEXT: arith.addf %[[ACC]], %[[R]]
func.func @main(%x: tensor<64x32xf32>, %w: tensor<32x16xf32>, %res: tensor<64x16xf32>)
    -> tensor<64x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x16xf32>) -> tensor<64x16xf32>
  %a = linalg.matmul ins(%x, %w : tensor<64x32xf32>, tensor<32x16xf32>)
      outs(%f : tensor<64x16xf32>) -> tensor<64x16xf32>
  %y = linalg.add ins(%a, %res : tensor<64x16xf32>, tensor<64x16xf32>)
      outs(%e : tensor<64x16xf32>) -> tensor<64x16xf32>
  return %y : tensor<64x16xf32>
}
