// Ops of dialects that are not registered, as in a compiler that embeds the passes,
// stay as they are.
//
// RUN: coda-opt %s --allow-unregistered-dialect --coda-gpu-host-ops | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: memref<8xf32>)
// CHECK: %[[Y:.*]] = "other.op"(%[[X]]) : (memref<8xf32>) -> f32
// CHECK: "other.end"(%[[Y]]) : (f32) -> ()
func.func @main(%x: memref<8xf32>) {
  %y = "other.op"(%x) : (memref<8xf32>) -> f32
  "other.end"(%y) : (f32) -> ()
  return
}
