// RUN: coda-opt %s --coda-expand-math | FileCheck %s

// CHECK-LABEL: func.func @polynomial
// CHECK-NOT: math.exp
// CHECK-NOT: math.fpowi
// CHECK: return
func.func @polynomial(%x: f32) -> f32 {
  %c2 = arith.constant 2 : i64
  %e = math.exp %x : f32
  %p = math.fpowi %e, %c2 : f32, i64
  return %p : f32
}

// f64 and sines stay libm's.

// CHECK-LABEL: func.func @libm
// CHECK-SAME: %[[X:[a-z0-9]+]]: f32, %[[D:[a-z0-9]+]]: f64
// CHECK: math.sin %[[X]] : f32
// CHECK: math.exp %[[D]] : f64
func.func @libm(%x: f32, %d: f64) -> (f32, f64) {
  %s = math.sin %x : f32
  %e = math.exp %d : f64
  return %s, %e : f32, f64
}
