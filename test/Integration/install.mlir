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

// CHECK-LABEL: func.func @scale
// CHECK-SAME: (%[[V:.+]]: tensor<8x4xf32>, %[[R:.+]]: tensor<8xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[R]], %[[V]] : tensor<8xf32>, tensor<8x4xf32>)
// CHECK-NOT: coda.
func.func @scale(%v: tensor<8x4xf32>, %r: tensor<8xf32>) -> tensor<8x4xf32> {
  %0 = coda.scale %v, %r along [0] : tensor<8x4xf32>, tensor<8xf32> -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
