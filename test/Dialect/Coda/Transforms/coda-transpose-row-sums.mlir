// RUN: coda-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(coda-transpose-row-sums),canonicalize,cse)' | FileCheck %s

// The row sum of the gradient of a normalised value, which two products read:
// the sums of the products' own gradients. The root that the value has and the
// sum does not is divided by.

#mn = affine_map<(d0, d1) -> (d0, d1)>
#m = affine_map<(d0, d1) -> (d0)>
#n = affine_map<(d0, d1) -> (d1)>
#v = affine_map<(d0) -> (d0)>
#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d1, d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @two_products
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x8xf32>, %[[W:[a-z0-9]+]]: tensor<8xf32>, %[[R2:[a-z0-9]+]]: tensor<4xf32>, %[[A:[a-z0-9]+]]: tensor<6x8xf32>, %[[B:[a-z0-9]+]]: tensor<5x8xf32>, %[[DA:[a-z0-9]+]]: tensor<4x6xf32>, %[[DB:[a-z0-9]+]]: tensor<4x5xf32>
// CHECK: %[[R:.+]] = linalg.generic {{.*}} ins(%[[R2]] : tensor<4xf32>)
// CHECK: %[[ZA:.+]] = linalg.matmul indexing_maps = {{.*}} ins(%{{.+}}, %[[A]] :
// CHECK: %[[ZB:.+]] = linalg.matmul indexing_maps = {{.*}} ins(%{{.+}}, %[[B]] :
// CHECK: %[[TA:.+]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[DA]], %[[ZA]] : tensor<4x6xf32>, tensor<4x6xf32>)
// CHECK: %[[TB:.+]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[DB]], %[[ZB]] : tensor<4x5xf32>, tensor<4x5xf32>)
// CHECK: %[[S:.+]] = linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%[[TA]], %[[TB]], %[[R]] :
// CHECK-NEXT: ^bb0(%[[T0:.+]]: f32, %[[T1:.+]]: f32, %[[RE:.+]]: f32, %{{.+}}: f32):
// CHECK-DAG: %[[SUM:.+]] = arith.addf %[[T0]], %[[T1]] : f32
// CHECK: %[[SCALED:.+]] = arith.mulf %[[SUM]], %{{.+}} : f32
// CHECK: %[[Q:.+]] = arith.divf %[[SCALED]], %[[RE]] : f32
// CHECK: linalg.yield %[[Q]]
// CHECK: return %[[ZA]], %[[ZB]], %[[S]]
func.func @two_products(%x: tensor<4x8xf32>, %w: tensor<8xf32>, %s: tensor<4xf32>, %a: tensor<6x8xf32>, %b: tensor<5x8xf32>, %da: tensor<4x6xf32>, %db: tensor<4x5xf32>) -> (tensor<4x6xf32>, tensor<4x5xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %ev = tensor.empty() : tensor<4xf32>
  %ex = tensor.empty() : tensor<4x8xf32>
  %ea = tensor.empty() : tensor<4x6xf32>
  %eb = tensor.empty() : tensor<4x5xf32>
  %zx = linalg.fill ins(%zero : f32) outs(%ex : tensor<4x8xf32>) -> tensor<4x8xf32>
  %z6 = linalg.fill ins(%zero : f32) outs(%ea : tensor<4x6xf32>) -> tensor<4x6xf32>
  %z5 = linalg.fill ins(%zero : f32) outs(%eb : tensor<4x5xf32>) -> tensor<4x5xf32>
  %zv = linalg.fill ins(%zero : f32) outs(%ev : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%s : tensor<4xf32>) outs(%ev : tensor<4xf32>) {
  ^bb0(%e: f32, %out: f32):
    %0 = math.rsqrt %e : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  %y = linalg.generic {indexing_maps = [#mn, #m, #n, #mn], iterator_types = ["parallel", "parallel"]} ins(%x, %r, %w : tensor<4x8xf32>, tensor<4xf32>, tensor<8xf32>) outs(%ex : tensor<4x8xf32>) {
  ^bb0(%e: f32, %re: f32, %we: f32, %out: f32):
    %0 = arith.mulf %e, %re : f32
    %1 = arith.mulf %0, %we : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  %za = linalg.matmul indexing_maps = [#lhs, #rhs, #out] ins(%y, %a : tensor<4x8xf32>, tensor<6x8xf32>) outs(%z6 : tensor<4x6xf32>) -> tensor<4x6xf32>
  %zb = linalg.matmul indexing_maps = [#lhs, #rhs, #out] ins(%y, %b : tensor<4x8xf32>, tensor<5x8xf32>) outs(%z5 : tensor<4x5xf32>) -> tensor<4x5xf32>
  %d0 = linalg.matmul ins(%da, %a : tensor<4x6xf32>, tensor<6x8xf32>) outs(%zx : tensor<4x8xf32>) -> tensor<4x8xf32>
  %d1 = linalg.matmul ins(%db, %b : tensor<4x5xf32>, tensor<5x8xf32>) outs(%zx : tensor<4x8xf32>) -> tensor<4x8xf32>
  %t = linalg.generic {indexing_maps = [#mn, #mn, #mn, #n, #m], iterator_types = ["parallel", "reduction"]} ins(%d0, %d1, %x, %w : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<8xf32>) outs(%zv : tensor<4xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e: f32, %we: f32, %out: f32):
    %two = arith.constant 2.0 : f32
    %0 = arith.addf %e0, %e1 : f32
    %1 = arith.mulf %0, %we : f32
    %2 = arith.mulf %1, %e : f32
    %3 = arith.mulf %2, %two : f32
    %4 = arith.addf %3, %out : f32
    linalg.yield %4 : f32
  } -> tensor<4xf32>
  return %za, %zb, %t : tensor<4x6xf32>, tensor<4x5xf32>, tensor<4xf32>
}

// -----

// The sum has the root, too; 16-bit steps; the weight is stored the other way.

#mn = affine_map<(d0, d1) -> (d0, d1)>
#m = affine_map<(d0, d1) -> (d0)>
#v = affine_map<(d0) -> (d0)>
#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d1, d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @root_cancels
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x8xbf16>, %[[R2:[a-z0-9]+]]: tensor<?xf32>, %[[A:[a-z0-9]+]]: tensor<8x6xbf16>, %[[DA:[a-z0-9]+]]: tensor<?x6xbf16>
// CHECK: %[[Z:.+]] = linalg.matmul ins(%{{.+}}, %[[A]] :
// CHECK: %[[T:.+]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[DA]], %[[Z]] : tensor<?x6xbf16>, tensor<?x6xbf16>)
// CHECK-NEXT: ^bb0(%[[G:.+]]: bf16, %[[P:.+]]: bf16, %[[OUT:.+]]: f32):
// CHECK-DAG: %[[GF:.+]] = arith.extf %[[G]]
// CHECK-DAG: %[[PF:.+]] = arith.extf %[[P]]
// CHECK: %[[GP:.+]] = arith.mulf %[[GF]], %[[PF]] : f32
// CHECK-NEXT: %[[S:.+]] = arith.addf %[[GP]], %[[OUT]] : f32
// CHECK-NOT: divf
// CHECK: return %[[Z]]
func.func @root_cancels(%x: tensor<?x8xbf16>, %s: tensor<?xf32>, %a: tensor<8x6xbf16>, %da: tensor<?x6xbf16>) -> (tensor<?x6xbf16>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xbf16>
  %zero = arith.constant 0.0 : f32
  %zeroh = arith.constant 0.0 : bf16
  %ev = tensor.empty(%n) : tensor<?xf32>
  %ex = tensor.empty(%n) : tensor<?x8xbf16>
  %ea = tensor.empty(%n) : tensor<?x6xbf16>
  %zx = linalg.fill ins(%zeroh : bf16) outs(%ex : tensor<?x8xbf16>) -> tensor<?x8xbf16>
  %z6 = linalg.fill ins(%zeroh : bf16) outs(%ea : tensor<?x6xbf16>) -> tensor<?x6xbf16>
  %zv = linalg.fill ins(%zero : f32) outs(%ev : tensor<?xf32>) -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#v, #v], iterator_types = ["parallel"]} ins(%s : tensor<?xf32>) outs(%ev : tensor<?xf32>) {
  ^bb0(%e: f32, %out: f32):
    %0 = math.rsqrt %e : f32
    linalg.yield %0 : f32
  } -> tensor<?xf32>
  %y = linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]} ins(%x, %r : tensor<?x8xbf16>, tensor<?xf32>) outs(%ex : tensor<?x8xbf16>) {
  ^bb0(%e: bf16, %re: f32, %out: bf16):
    %0 = arith.extf %e : bf16 to f32
    %1 = arith.mulf %0, %re : f32
    %2 = arith.truncf %1 : f32 to bf16
    linalg.yield %2 : bf16
  } -> tensor<?x8xbf16>
  %z = linalg.matmul ins(%y, %a : tensor<?x8xbf16>, tensor<8x6xbf16>) outs(%z6 : tensor<?x6xbf16>) -> tensor<?x6xbf16>
  %d = linalg.matmul indexing_maps = [#lhs, #rhs, #out] ins(%da, %a : tensor<?x6xbf16>, tensor<8x6xbf16>) outs(%zx : tensor<?x8xbf16>) -> tensor<?x8xbf16>
  %t = linalg.generic {indexing_maps = [#mn, #mn, #m, #m], iterator_types = ["parallel", "reduction"]} ins(%d, %x, %r : tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?xf32>) outs(%zv : tensor<?xf32>) {
  ^bb0(%e0: bf16, %e1: bf16, %re: f32, %out: f32):
    %0 = arith.extf %e0 : bf16 to f32
    %1 = arith.extf %e1 : bf16 to f32
    %2 = arith.mulf %1, %re : f32
    %3 = arith.mulf %0, %2 : f32
    %4 = arith.addf %3, %out : f32
    linalg.yield %4 : f32
  } -> tensor<?xf32>
  return %z, %t : tensor<?x6xbf16>, tensor<?xf32>
}

// -----

// Left alone: what is multiplied is not what the forward's product contracts,
// what is divided by may be zero, the product adds to something, the sum is a
// maximum.

#mn = affine_map<(d0, d1) -> (d0, d1)>
#m = affine_map<(d0, d1) -> (d0)>
#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d1, d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @others
// CHECK: iterator_types = ["parallel", "reduction"]} ins(%{{.+}}, %{{.+}} : tensor<4x8xf32>, tensor<4x8xf32>)
// CHECK: iterator_types = ["parallel", "reduction"]} ins(%{{.+}}, %{{.+}} : tensor<4x8xf32>, tensor<4x8xf32>)
// CHECK: iterator_types = ["parallel", "reduction"]} ins(%{{.+}}, %{{.+}} : tensor<4x8xf32>, tensor<4x8xf32>)
// CHECK: iterator_types = ["parallel", "reduction"]} ins(%{{.+}}, %{{.+}} : tensor<4x8xf32>, tensor<4x8xf32>)
// CHECK-NOT: reduction
func.func @others(%x: tensor<4x8xf32>, %x2: tensor<4x8xf32>, %g: tensor<4xf32>, %a: tensor<6x8xf32>, %b: tensor<6x8xf32>, %c: tensor<6x8xf32>, %da: tensor<4x6xf32>, %init: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %ev = tensor.empty() : tensor<4xf32>
  %ex = tensor.empty() : tensor<4x8xf32>
  %ea = tensor.empty() : tensor<4x6xf32>
  %zx = linalg.fill ins(%zero : f32) outs(%ex : tensor<4x8xf32>) -> tensor<4x8xf32>
  %z6 = linalg.fill ins(%zero : f32) outs(%ea : tensor<4x6xf32>) -> tensor<4x6xf32>
  %zv = linalg.fill ins(%zero : f32) outs(%ev : tensor<4xf32>) -> tensor<4xf32>
  %lowest = linalg.fill ins(%low : f32) outs(%ev : tensor<4xf32>) -> tensor<4xf32>
  %gated = linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]} ins(%x, %g : tensor<4x8xf32>, tensor<4xf32>) outs(%ex : tensor<4x8xf32>) {
  ^bb0(%e: f32, %ge: f32, %out: f32):
    %0 = arith.mulf %e, %ge : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  %za = linalg.matmul indexing_maps = [#lhs, #rhs, #out] ins(%x, %a : tensor<4x8xf32>, tensor<6x8xf32>) outs(%z6 : tensor<4x6xf32>) -> tensor<4x6xf32>
  %zb = linalg.matmul indexing_maps = [#lhs, #rhs, #out] ins(%gated, %b : tensor<4x8xf32>, tensor<6x8xf32>) outs(%z6 : tensor<4x6xf32>) -> tensor<4x6xf32>
  %zc = linalg.matmul indexing_maps = [#lhs, #rhs, #out] ins(%x, %c : tensor<4x8xf32>, tensor<6x8xf32>) outs(%init : tensor<4x6xf32>) -> tensor<4x6xf32>
  %d0 = linalg.matmul ins(%da, %a : tensor<4x6xf32>, tensor<6x8xf32>) outs(%zx : tensor<4x8xf32>) -> tensor<4x8xf32>
  %d1 = linalg.matmul ins(%da, %b : tensor<4x6xf32>, tensor<6x8xf32>) outs(%zx : tensor<4x8xf32>) -> tensor<4x8xf32>
  %d2 = linalg.matmul ins(%da, %c : tensor<4x6xf32>, tensor<6x8xf32>) outs(%zx : tensor<4x8xf32>) -> tensor<4x8xf32>
  %t0 = linalg.generic {indexing_maps = [#mn, #mn, #m], iterator_types = ["parallel", "reduction"]} ins(%d0, %x2 : tensor<4x8xf32>, tensor<4x8xf32>) outs(%zv : tensor<4xf32>) {
  ^bb0(%e0: f32, %e1: f32, %out: f32):
    %0 = arith.mulf %e0, %e1 : f32
    %1 = arith.addf %0, %out : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  %t1 = linalg.generic {indexing_maps = [#mn, #mn, #m], iterator_types = ["parallel", "reduction"]} ins(%d1, %x : tensor<4x8xf32>, tensor<4x8xf32>) outs(%zv : tensor<4xf32>) {
  ^bb0(%e0: f32, %e1: f32, %out: f32):
    %0 = arith.mulf %e0, %e1 : f32
    %1 = arith.addf %0, %out : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  %t2 = linalg.generic {indexing_maps = [#mn, #mn, #m], iterator_types = ["parallel", "reduction"]} ins(%d2, %x : tensor<4x8xf32>, tensor<4x8xf32>) outs(%zv : tensor<4xf32>) {
  ^bb0(%e0: f32, %e1: f32, %out: f32):
    %0 = arith.mulf %e0, %e1 : f32
    %1 = arith.addf %0, %out : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  %t3 = linalg.generic {indexing_maps = [#mn, #mn, #m], iterator_types = ["parallel", "reduction"]} ins(%d0, %x : tensor<4x8xf32>, tensor<4x8xf32>) outs(%lowest : tensor<4xf32>) {
  ^bb0(%e0: f32, %e1: f32, %out: f32):
    %0 = arith.mulf %e0, %e1 : f32
    %1 = arith.maximumf %0, %out : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %za, %zb, %zc, %t0, %t1, %t2, %t3 : tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
