// RUN: coda-opt %s --coda-host-signature --split-input-file | FileCheck %s

// A result gets a destination; an input is not writable.

// CHECK-LABEL: func.func @static
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<4xf32> {bufferization.writable = false}
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: tensor<4xf32>
// CHECK-SAME: coda.entry = {inputs = [tensor<4xf32>], launches = 0 : i32, name = "static", outputs = [tensor<4xf32>]}
// CHECK: %[[R:.*]] = linalg.exp ins(%[[A]]
// CHECK: %[[M:.*]] = bufferization.materialize_in_destination %[[R]] in %[[OUT]]
// CHECK: return %[[M]]
func.func @static(%a: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// A dynamic extent: a function computes it, and extents that one op indexes
// with one dim share a number.

// CHECK-LABEL: func.func @dynamic(
// CHECK-SAME: extents = array<i32: 0, -1, 0, -1>
// CHECK-SAME: infer = @dynamic_infer
// CHECK-LABEL: func.func private @dynamic_infer
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<?x4xf32>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK: %[[D:.*]] = tensor.dim %[[A]], %[[C0]]
// CHECK: return %[[D]] : index
func.func @dynamic(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %a, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%d) : tensor<?x4xf32>
  %r = linalg.add ins(%a, %b : tensor<?x4xf32>, tensor<?x4xf32>)
      outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

// -----

// Two calls of kernels are two launches; the kernels are inlined.

// CHECK-LABEL: func.func @launches
// CHECK-SAME: launches = 2 : i32
// CHECK-NOT: call
// CHECK-COUNT-2: linalg.exp
func.func @launches(%a: tensor<4xf32>) -> tensor<4xf32> {
  %b = call @kernel(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %c = call @kernel(%b) : (tensor<4xf32>) -> tensor<4xf32>
  return %c : tensor<4xf32>
}
func.func private @kernel(%a: tensor<4xf32>) -> tensor<4xf32> attributes {coda.kernel} {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// What a reshape hides is stored in its own shape, so that its maker writes to
// the destination.

// CHECK-LABEL: func.func @reshaped
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<?x4xf32>
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: tensor<?xf32>
// CHECK: %[[D:.*]] = tensor.dim %[[OUT]], %{{.*}}
// CHECK: %[[N:.*]] = arith.divui %[[D]], %{{.*}}
// CHECK: %[[WIDE:.*]] = tensor.expand_shape %[[OUT]] {{\[\[}}0, 1]] output_shape [%[[N]], 4]
// CHECK: %[[R:.*]] = linalg.exp ins(%[[A]]
// CHECK: %[[M:.*]] = bufferization.materialize_in_destination %[[R]] in %[[WIDE]]
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[M]] {{\[\[}}0, 1]]
// CHECK: return %[[C]]
func.func @reshaped(%a: tensor<?x4xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %a, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%d) : tensor<?x4xf32>
  %r = linalg.exp ins(%a : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %c = tensor.collapse_shape %r [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
  return %c : tensor<?xf32>
}

// -----

// Where kernels stay functions, extents are asked of what is in them.

// CHECK-LABEL: func.func @launched(
// CHECK-SAME: extents = array<i32: 0, -1, 0, -1>
// CHECK-SAME: infer = @launched_infer
// CHECK-SAME: launches = 1 : i32
// CHECK: call @kernel
// CHECK-LABEL: func.func private @launched_infer
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<?x64xbf16>
// CHECK-NOT: call
// CHECK: %[[D:.*]] = tensor.dim %[[A]],
// CHECK: return %[[D]] : index
func.func @launched(%a: tensor<?x64xbf16>, %b: tensor<?x64xbf16>) -> tensor<?x64xbf16> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %a, %c0 : tensor<?x64xbf16>
  %e = tensor.empty(%d) : tensor<?x64xbf16>
  %r = call @kernel(%a, %b, %e) : (tensor<?x64xbf16>, tensor<?x64xbf16>, tensor<?x64xbf16>) -> tensor<?x64xbf16>
  return %r : tensor<?x64xbf16>
}
func.func private @kernel(%a: tensor<?x64xbf16>, %b: tensor<?x64xbf16>, %o: tensor<?x64xbf16>) -> tensor<?x64xbf16>
    attributes {coda.kernel, coda.launched, no_inline} {
  %r = coda.map ins(%a[m, n], %b[m, n] : tensor<?x64xbf16>, tensor<?x64xbf16>) outs(%o[m, n] : tensor<?x64xbf16>) {
  ^bb0(%x: bf16, %y: bf16):
    %z = arith.addf %x, %y : bf16
    coda.yield %z : bf16
  }
  return %r : tensor<?x64xbf16>
}

// -----

// A chain of reshapes is undone one by one, at the start of the function.

// CHECK-LABEL: func.func @chain
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<8x6xf32>
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: tensor<2x4x6xf32>
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %[[OUT]] {{\[\[0, 1\], \[2\]\]}} : tensor<2x4x6xf32> into tensor<8x6xf32>
// CHECK: %[[VIEW:.*]] = tensor.expand_shape %[[FLAT]] {{\[\[0\], \[1, 2\]\]}} output_shape [8, 2, 3] : tensor<8x6xf32> into tensor<8x2x3xf32>
// CHECK: %[[R:.*]] = linalg.exp
// CHECK: %[[M:.*]] = bufferization.materialize_in_destination %[[R]] in %[[VIEW]]
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[M]] {{\[\[0\], \[1, 2\]\]}} : tensor<8x2x3xf32> into tensor<8x6xf32>
// CHECK: %[[S:.*]] = tensor.expand_shape %[[C]] {{\[\[0, 1\], \[2\]\]}} output_shape [2, 4, 6] : tensor<8x6xf32> into tensor<2x4x6xf32>
// CHECK: return %[[S]]
func.func @chain(%a: tensor<8x6xf32>) -> tensor<2x4x6xf32> {
  %x = tensor.expand_shape %a [[0], [1, 2]] output_shape [8, 2, 3] : tensor<8x6xf32> into tensor<8x2x3xf32>
  %e = tensor.empty() : tensor<8x2x3xf32>
  %r = linalg.exp ins(%x : tensor<8x2x3xf32>) outs(%e : tensor<8x2x3xf32>) -> tensor<8x2x3xf32>
  %c = tensor.collapse_shape %r [[0], [1, 2]] : tensor<8x2x3xf32> into tensor<8x6xf32>
  %s = tensor.expand_shape %c [[0, 1], [2]] output_shape [2, 4, 6] : tensor<8x6xf32> into tensor<2x4x6xf32>
  return %s : tensor<2x4x6xf32>
}

// -----

// The extent of what a branch gives: one value, whatever the data says.

// CHECK-LABEL: func.func private @branches_infer
// CHECK-SAME: %[[C:[a-z0-9]+]]: tensor<i1>, %[[A:[a-z0-9]+]]: tensor<?xf32>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK: %[[D:.*]] = tensor.dim %[[A]], %[[C0]]
// CHECK-NOT: scf.if
// CHECK: return %[[D]] : index
func.func @branches(%c: tensor<i1>, %a: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %a, %c0 : tensor<?xf32>
  %e = tensor.empty(%d) : tensor<?xf32>
  %p = tensor.extract %c[] : tensor<i1>
  %r = scf.if %p -> tensor<?xf32> {
    %y = linalg.exp ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %y : tensor<?xf32>
  } else {
    %y = linalg.abs ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %y : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

// Or of two, by what the shapes say.

// CHECK-LABEL: func.func private @other_branches_infer
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<?xf32>, %[[B:[a-z0-9]+]]: tensor<?xf32>
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK-DAG: %[[D:.*]] = tensor.dim %[[A]], %{{.+}}
// CHECK-DAG: %[[F:.*]] = tensor.dim %[[B]], %{{.+}}
// CHECK-DAG: %[[P:.*]] = arith.cmpi ule, %[[D]], %[[C64]]
// CHECK: %[[R:.*]] = arith.select %[[P]], %[[D]], %[[F]] : index
// CHECK: return %[[R]] : index
func.func @other_branches(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %d = tensor.dim %a, %c0 : tensor<?xf32>
  %f = tensor.dim %b, %c0 : tensor<?xf32>
  %p = arith.cmpi ule, %d, %c64 : index
  %r = scf.if %p -> tensor<?xf32> {
    %e = tensor.empty(%d) : tensor<?xf32>
    %y = linalg.exp ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %y : tensor<?xf32>
  } else {
    %e = tensor.empty(%f) : tensor<?xf32>
    %y = linalg.abs ins(%b : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %y : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
