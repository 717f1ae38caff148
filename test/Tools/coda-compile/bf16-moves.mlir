// What only moves bf16 moves integers: a CPU without registers for bf16 would take
// vectors of it apart.
//
// RUN: coda-compile %s --no-fuse --emit=llvm -o - | FileCheck %s
// CHECK-NOT:   load {{.*}}bfloat
// CHECK-NOT:   store {{.*}}bfloat
// CHECK:       %[[A:.+]] = load <8 x i16>
// CHECK-NEXT:  store <8 x i16> %[[A]],
// A rounding: the NaN is chosen among integers, too.
// CHECK:       %[[R:.+]] = select <8 x i1> %{{.+}}, <8 x i16> splat (i16 32704), <8 x i16> %{{.+}}
// CHECK:       store <8 x i16> %[[R]],
// CHECK-NOT:   load {{.*}}bfloat
// CHECK-NOT:   store {{.*}}bfloat
// RUN: coda-run %s --seed=1 --against-reference --repeat=0 | FileCheck %s --check-prefix=GOOD
// GOOD: all outputs are good

#heads = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @main(%x: tensor<24x2x32xbf16>) -> (tensor<2x24x32xbf16>, tensor<24x2x32xbf16>) {
  %e = tensor.empty() : tensor<2x24x32xbf16>
  %y = linalg.generic {indexing_maps = [#heads, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<24x2x32xbf16>) outs(%e : tensor<2x24x32xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    linalg.yield %a : bf16
  } -> tensor<2x24x32xbf16>
  %f = tensor.empty() : tensor<24x2x32xbf16>
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<24x2x32xbf16>) outs(%f : tensor<24x2x32xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %0 = arith.mulf %a, %a : bf16
    linalg.yield %0 : bf16
  } -> tensor<24x2x32xbf16>
  return %y, %z : tensor<2x24x32xbf16>, tensor<24x2x32xbf16>
}
