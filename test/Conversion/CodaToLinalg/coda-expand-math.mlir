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

// CHECK-LABEL: func.func @clamp
// CHECK-SAME: %[[X:.+]]: f32, %[[LOW:.+]]: f32, %[[HIGH:.+]]: f32
// CHECK-NEXT: %[[MAX:.+]] = arith.maximumf %[[X]], %[[LOW]] : f32
// CHECK-NEXT: %[[MIN:.+]] = arith.minimumf %[[MAX]], %[[HIGH]] : f32
// CHECK-NEXT: return %[[MIN]]
func.func @clamp(%x: f32, %low: f32, %high: f32) -> f32 {
  %y = math.clampf %x to [%low, %high] : f32
  return %y : f32
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
