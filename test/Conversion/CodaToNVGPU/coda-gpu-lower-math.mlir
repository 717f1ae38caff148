// RUN: coda-opt %s --coda-gpu-lower-math --split-input-file | FileCheck %s
// RUN: coda-opt %s --coda-gpu-lower-math=strict --split-input-file | FileCheck %s --check-prefix=STRICT

// CHECK-LABEL: func.func @exp
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK: %[[LOG2E:.*]] = arith.constant 1.44269502 : f32
// CHECK: %[[M:.*]] = arith.mulf %[[X]], %[[LOG2E]] : f32
// CHECK: %[[E:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%[[M]])
// CHECK: return %[[E]]
func.func @exp(%x: f32) -> f32 {
  %0 = math.exp %x : f32
  return %0 : f32
}

// -----

// Only the instruction is repeated for each element.
// CHECK-LABEL: func.func @vector_in_16_bits
// CHECK-SAME: (%[[X:.*]]: vector<2xbf16>)
// CHECK: %[[W:.*]] = arith.extf %[[X]] : vector<2xbf16> to vector<2xf32>
// CHECK: %[[E0:.*]] = vector.extract %[[W]][0]
// CHECK: %[[R0:.*]] = llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.ftz.f"(%[[E0]])
// CHECK: %[[E1:.*]] = vector.extract %[[W]][1]
// CHECK: %[[R1:.*]] = llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.ftz.f"(%[[E1]])
// CHECK: %[[R:.*]] = vector.from_elements %[[R0]], %[[R1]]
// CHECK: arith.truncf %[[R]] : vector<2xf32> to vector<2xbf16>
func.func @vector_in_16_bits(%x: vector<2xbf16>) -> vector<2xbf16> {
  %0 = math.rsqrt %x : vector<2xbf16>
  return %0 : vector<2xbf16>
}

// -----

// A product and a sum may become one instruction; the roundings that an expansion
// relies on stay.
// CHECK-LABEL: func.func @contract
// CHECK: arith.mulf {{.*}} fastmath<contract> : f32
// CHECK: arith.addf {{.*}} fastmath<nnan,contract> : vector<2xf32>
// CHECK: arith.mulf {{.*}} : f64
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// STRICT-LABEL: func.func @contract
// STRICT-NOT: contract>
func.func @contract(%x: f32, %v: vector<2xf32>, %d: f64) -> (f32, vector<2xf32>, f64) {
  %0 = arith.mulf %x, %x : f32
  %1 = arith.addf %v, %v fastmath<nnan> : vector<2xf32>
  %2 = arith.mulf %d, %d : f64
  %3 = math.exp %0 : f32
  return %3, %1, %2 : f32, vector<2xf32>, f64
}

// -----

// CHECK-LABEL: func.func @div
// CHECK-SAME: (%[[X:.*]]: f32, %[[Y:.*]]: f32)
// CHECK: llvm.call_intrinsic "llvm.nvvm.div.approx.ftz.f"(%[[X]], %[[Y]])
// STRICT-LABEL: func.func @div
// STRICT-SAME: (%[[X:.*]]: f32, %[[Y:.*]]: f32)
// STRICT: arith.divf %[[X]], %[[Y]] : f32
func.func @div(%x: f32, %y: f32) -> f32 {
  %0 = arith.divf %x, %y : f32
  return %0 : f32
}

// -----

// No f64 instruction: a polynomial, and the power of two by its bits.
// CHECK-LABEL: func.func @f64
// CHECK-NOT: math.exp
// CHECK: math.fma {{.*}} : f64
// CHECK: arith.bitcast %{{.+}} : i64 to f64
func.func @f64(%x: f64) -> f64 {
  %0 = math.exp %x : f64
  return %0 : f64
}

// -----

// By other functions, or by products.
// CHECK-LABEL: func.func @expanded
// CHECK-NOT: math.{{sinh|atan|fpowi|powf}}
// CHECK: return
func.func @expanded(%x: f32, %y: f32) -> (f32, f32, f32, f32) {
  %c3 = arith.constant 3 : i32
  %0 = math.sinh %x : f32
  %1 = math.atan %x : f32
  %2 = math.fpowi %x, %c3 : f32, i32
  %3 = math.powf %x, %y : f32
  return %0, %1, %2, %3 : f32, f32, f32, f32
}
