// arith and math on whole tensors compile like their linalg forms.
// RUN: coda-run %s --seed=1 --against-reference | FileCheck %s
// CHECK: out0 {{.*}} ok
// CHECK-NEXT: out1 {{.*}} ok
// CHECK: all outputs are good
func.func @main(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>)
    -> (tensor<4x8xf32>, tensor<4x8xi1>) {
  %0 = math.exp %x : tensor<4x8xf32>
  %1 = arith.addf %0, %y : tensor<4x8xf32>
  %2 = arith.cmpf ogt, %1, %x : tensor<4x8xf32>
  %3 = arith.select %2, %1, %y : tensor<4x8xi1>, tensor<4x8xf32>
  return %3, %2 : tensor<4x8xf32>, tensor<4x8xi1>
}
