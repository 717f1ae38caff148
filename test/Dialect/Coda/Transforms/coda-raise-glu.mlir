// RUN: coda-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(coda-raise))' | FileCheck %s
// RUN: coda-opt %s --split-input-file --pass-pipeline='builtin.module(func.func(coda-raise{numerics=strict}))' 2>/dev/null | FileCheck %s --check-prefix=STRICT

#map = affine_map<(d0, d1) -> (d0, d1)>

// The sigmoid as a quotient of its own.
// CHECK-LABEL: func.func @silu
// CHECK-SAME: %[[G:.+]]: tensor<4x8xf32>, %[[U:.+]]: tensor<4x8xf32>
// CHECK-NEXT: %[[Y:.+]] = coda.glu silu %[[G]], %[[U]] : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
// CHECK-NEXT: return %[[Y]]
// STRICT-LABEL: func.func @silu
// STRICT-NOT: coda.glu
// STRICT: return
func.func @silu(%g: tensor<4x8xf32>, %u: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%g, %u : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.negf %a : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.divf %one, %2 : f32
    %4 = arith.mulf %a, %3 : f32
    %5 = arith.mulf %4, %b : f32
    linalg.yield %5 : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// As the op computes it, up first.

#map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @silu_exact
// CHECK-SAME: %[[U:.+]]: tensor<4x8xf32>, %[[G:.+]]: tensor<4x8xf32>
// CHECK: coda.glu silu %[[G]], %[[U]]
// STRICT-LABEL: func.func @silu_exact
// STRICT: coda.glu silu
func.func @silu_exact(%u: tensor<4x8xf32>, %g: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%u, %g : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%b: f32, %a: f32, %out: f32):
    %0 = arith.negf %a : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %one, %1 : f32
    %3 = arith.divf %a, %2 : f32
    %5 = arith.mulf %b, %3 : f32
    linalg.yield %5 : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// Slices of one 16-bit tensor, the sigmoid an op of its own with two readers,
// 16-bit roundings between the steps.

#map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @silu_slices
// CHECK-SAME: %[[GU:.+]]: tensor<?x16xbf16>
// CHECK: %[[G:.+]] = tensor.extract_slice %[[GU]][0, 8]
// CHECK: %[[U:.+]] = tensor.extract_slice %[[GU]][0, 0]
// CHECK: coda.glu silu %[[G]], %[[U]] : tensor<?x8xbf16>, tensor<?x8xbf16> -> tensor<?x8xbf16>
func.func @silu_slices(%gu: tensor<?x16xbf16>) -> (tensor<?x8xbf16>, tensor<?x8xbf16>) {
  %one = arith.constant 1.0 : bf16
  %c0 = arith.constant 0 : index
  %m = tensor.dim %gu, %c0 : tensor<?x16xbf16>
  %g = tensor.extract_slice %gu[0, 8] [%m, 8] [1, 1] : tensor<?x16xbf16> to tensor<?x8xbf16>
  %u = tensor.extract_slice %gu[0, 0] [%m, 8] [1, 1] : tensor<?x16xbf16> to tensor<?x8xbf16>
  %e = tensor.empty(%m) : tensor<?x8xbf16>
  %s = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%g : tensor<?x8xbf16>) outs(%e : tensor<?x8xbf16>) {
  ^bb0(%a: bf16, %out: bf16):
    %0 = arith.negf %a : bf16
    %1 = math.exp %0 : bf16
    %2 = arith.addf %1, %one : bf16
    %3 = arith.divf %one, %2 : bf16
    linalg.yield %3 : bf16
  } -> tensor<?x8xbf16>
  %y = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%s, %g, %u : tensor<?x8xbf16>, tensor<?x8xbf16>, tensor<?x8xbf16>) outs(%e : tensor<?x8xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %c: bf16, %out: bf16):
    %0 = arith.mulf %c, %b : bf16
    %1 = arith.mulf %0, %a : bf16
    linalg.yield %1 : bf16
  } -> tensor<?x8xbf16>
  return %y, %s : tensor<?x8xbf16>, tensor<?x8xbf16>
}

// -----

// The constant of the tanh is not sqrt(2/pi): it is kept.

#map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @gelu_tanh
// CHECK: coda.glu gelu_tanh %{{.+}}, %{{.+}} {tanh_scale = 0.797724{{[0-9]*}} : f64}
func.func @gelu_tanh(%g: tensor<4x8xf32>, %u: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %c = arith.constant 0.797724 : f32
  %k = arith.constant 4.471500e-02 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %y = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%g, %u : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.mulf %a, %a : f32
    %1 = arith.mulf %0, %a : f32
    %2 = arith.mulf %1, %k : f32
    %3 = arith.addf %a, %2 : f32
    %4 = arith.mulf %3, %c : f32
    %5 = math.tanh %4 : f32
    %6 = arith.addf %5, %one : f32
    %7 = arith.mulf %6, %half : f32
    %8 = arith.mulf %a, %7 : f32
    %9 = arith.mulf %8, %b : f32
    linalg.yield %9 : f32
  } -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @gelu_erf
// CHECK: coda.glu gelu_erf %{{.+}}, %{{.+}} : tensor<4x8xbf16>, tensor<4x8xbf16> -> tensor<4x8xbf16>
func.func @gelu_erf(%g: tensor<4x8xbf16>, %u: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %root = arith.constant 1.41421354 : f32
  %e = tensor.empty() : tensor<4x8xbf16>
  %y = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%g, %u : tensor<4x8xbf16>, tensor<4x8xbf16>) outs(%e : tensor<4x8xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %out: bf16):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.divf %0, %root : f32
    %2 = math.erf %1 : f32
    %3 = arith.mulf %2, %half : f32
    %4 = arith.addf %3, %half : f32
    %5 = arith.mulf %0, %4 : f32
    %6 = arith.truncf %5 : f32 to bf16
    %7 = arith.mulf %6, %b : bf16
    linalg.yield %7 : bf16
  } -> tensor<4x8xbf16>
  return %y : tensor<4x8xbf16>
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @relu_and_sigmoid
// CHECK-SAME: %[[G:.+]]: tensor<4x8xf32>, %[[U:.+]]: tensor<4x8xf32>
// CHECK-DAG: coda.glu relu %[[G]], %[[U]]
// CHECK-DAG: coda.glu sigmoid %[[G]], %[[U]]
// STRICT-LABEL: func.func @relu_and_sigmoid
// STRICT-DAG: coda.glu relu
// STRICT-DAG: coda.glu sigmoid
func.func @relu_and_sigmoid(%g: tensor<4x8xf32>, %u: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %r = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%g, %u : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.maximumf %a, %zero : f32
    %1 = arith.mulf %b, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  %s = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%g, %u : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.negf %a : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.divf %one, %2 : f32
    %4 = arith.mulf %b, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<4x8xf32>
  return %r, %s : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// What is left alone: an activation with no factor, with a factor that varies
// along one dim only, and with a factor that is no tensor.

#map = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @no_unit
// CHECK-NOT: coda.glu
// CHECK: return
func.func @no_unit(%g: tensor<4x8xf32>, %u: tensor<4x8xf32>, %v: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%g : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %out: f32):
    %0 = arith.maximumf %a, %zero : f32
    linalg.yield %0 : f32
  } -> tensor<4x8xf32>
  %s = linalg.generic {indexing_maps = [#map, #col, #map], iterator_types = ["parallel", "parallel"]} ins(%g, %v : tensor<4x8xf32>, tensor<8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.maximumf %a, %zero : f32
    %1 = arith.mulf %0, %b : f32
    linalg.yield %1 : f32
  } -> tensor<4x8xf32>
  %t = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%g, %u : tensor<4x8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.maximumf %a, %zero : f32
    %1 = math.sin %b : f32
    %2 = arith.mulf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<4x8xf32>
  return %r, %s, %t : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
