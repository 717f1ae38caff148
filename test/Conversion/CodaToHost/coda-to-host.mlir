// RUN: coda-opt %s --coda-host-signature \
// RUN:   --one-shot-bufferize="bufferize-function-boundaries=1 function-boundary-type-conversion=identity-layout-map" \
// RUN:   --coda-plan-workspace --convert-linalg-to-loops --convert-scf-to-cf \
// RUN:   --coda-to-host="cpu=x86-64-v3 cpu-features=1" | FileCheck %s

// An assert is an early return of its number; the message is in a table.

// CHECK-LABEL: func.func private @__coda_code_main
// CHECK-SAME: -> i32
// CHECK: %[[OK:.*]] = arith.cmpi sgt
// CHECK: cf.cond_br %[[OK]], ^{{bb[0-9]+}}, ^[[FAIL:bb[0-9]+]]
// CHECK-NOT: cf.assert
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: return %[[ZERO]] : i32
// CHECK: ^[[FAIL]]:
// CHECK: %[[ONE:.*]] = arith.constant 1 : i32
// CHECK: return %[[ONE]] : i32

// The arguments are unpacked from DLTensors.

// CHECK-LABEL: llvm.func internal @__coda_body_main
// CHECK-SAME: %[[ARGS:[a-z0-9]+]]: !llvm.ptr, %[[WS:[a-z0-9]+]]: !llvm.ptr
// CHECK: %[[SLOT:.*]] = llvm.getelementptr %[[ARGS]][0]
// CHECK: %[[TENSOR:.*]] = llvm.load %[[SLOT]]
// CHECK: call @__coda_code_main

// CHECK: llvm.mlir.global internal constant @[[MESSAGE:__coda_text_[0-9]+]]("the extent is positive\00")

// CHECK-LABEL: llvm.func @coda_main(
// CHECK-SAME: %[[CTX:[a-z0-9]+]]: !llvm.ptr, %[[A:[a-z0-9]+]]: !llvm.ptr, %[[N:[a-z0-9]+]]: i32
// CHECK: %[[TABLE:.*]] = llvm.mlir.addressof
// CHECK: %[[STATUS:.*]] = llvm.call @coda_host_call(%[[TABLE]], %[[CTX]], %[[A]], %[[N]])
// CHECK: llvm.return %[[STATUS]]
// CHECK: llvm.func @coda_main_workspace
// CHECK: llvm.func @coda_main_infer
// CHECK: llvm.func @coda_module_v1
func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %d = tensor.dim %a, %c0 : tensor<?xf32>
  %ok = arith.cmpi sgt, %d, %c0 : index
  cf.assert %ok, "the extent is positive"
  %e = tensor.empty(%d) : tensor<?xf32>
  %r = linalg.exp ins(%a : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
