// A C99 program without any library of the project calls a compiled artifact.
// RUN: %host_cc -std=c99 -pedantic -Wall -Wextra -Werror -I%coda_src_root/include \
// RUN:   %S/Inputs/call.c -o %t.call -ldl
// RUN: coda-compile %s -o %t.so
// RUN: %t.call %t.so | FileCheck %s

// CHECK: main: 1 input, 1 output
// CHECK-NEXT: 3x4: 1 3 5 7 9 11 13 15 17 19 21 23
// CHECK-NEXT: status 1: {{.*}}argument 0{{.*}}f32
// CHECK-NEXT: y[0] = -1
#map = affine_map<(m, n) -> (m, n)>
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%m) : tensor<?x4xf32>
  %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %v, %v : f32
    %t = arith.addf %s, %one : f32
    linalg.yield %t : f32
  } -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
