// RUN: coda-opt %s --coda-gpu-copy-constants | FileCheck %s

memref.global "private" constant @table : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
func.func private @reader(memref<4xf32>)

// CHECK-LABEL: func.func @constant
// CHECK: %[[T:.+]] = memref.get_global @table
// CHECK: %[[B:.+]] = memref.alloc()
// CHECK: memref.copy %[[T]], %[[B]]
// CHECK: call @reader(%[[B]])
func.func @constant() {
  %t = memref.get_global @table : memref<4xf32>
  call @reader(%t) : (memref<4xf32>) -> ()
  return
}
