// RUN: coda-opt %s --coda-copy-to-linalg | FileCheck %s

// CHECK-LABEL: func.func @copy
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<4x4xf32, strided<[8, 1]>>, %[[B:[a-z0-9]+]]: memref<4x4xf32>
// CHECK-NOT: memref.copy
// CHECK: linalg.generic {{.*}} ins(%[[A]] : {{.*}}) outs(%[[B]]
func.func @copy(%a: memref<4x4xf32, strided<[8, 1]>>, %b: memref<4x4xf32>) {
  memref.copy %a, %b : memref<4x4xf32, strided<[8, 1]>> to memref<4x4xf32>
  return
}
