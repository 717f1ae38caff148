// One function of several: what is wrong with another does not count, unless it is
// called.
// RUN: rm -f %t.so %t.bad.so
// RUN: not coda-compile %s -o %t.bad.so 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: not coda-compile %s -o %t.bad.so --entry=calls 2>&1 | FileCheck %s --check-prefix=ALL
// ALL: {{^}}error: {{.*}}entry.mlir:[[#@LINE+11]]:8: 'tensor.gather' has no lowering
// RUN: not ls %t.bad.so
// RUN: coda-compile %s -o %t.so --entry=good
// RUN: coda-run %t.so --seed=1 --repeat=0 | FileCheck %s --check-prefix=GOOD
// GOOD: @good on cpu, 1 inputs, 1 outputs
// RUN: coda-run %s --entry=good --seed=1 --against-reference | FileCheck %s --check-prefix=CHECKED
// CHECKED: all outputs are good
// RUN: coda-run %s --entry=good --seed=1 --grad --differences --repeat=0 | FileCheck %s --check-prefix=GRAD
// GRAD: @good_grad on cpu
// GRAD: all gradients are good
func.func private @gather(%a: tensor<8x4xf32>, %i: tensor<2x1xi64>) -> tensor<2x1x4xf32> {
  %r = tensor.gather %a[%i] gather_dims([0]) : (tensor<8x4xf32>, tensor<2x1xi64>) -> tensor<2x1x4xf32>
  return %r : tensor<2x1x4xf32>
}
func.func @calls(%a: tensor<8x4xf32>, %i: tensor<2x1xi64>) -> tensor<2x1x4xf32> {
  %r = call @gather(%a, %i) : (tensor<8x4xf32>, tensor<2x1xi64>) -> tensor<2x1x4xf32>
  return %r : tensor<2x1x4xf32>
}
func.func @good(%a: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %r = math.exp %a : tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}
