// RUN: coda-opt %s --coda-expand-f8 --canonicalize -split-input-file -verify-diagnostics | FileCheck %s
// What the bits are is checked by test/Integration/f8-conversions.py.

// The upper half of an f16.
// CHECK-LABEL: func.func @widen_e5m2(
// CHECK-SAME:    %[[X:.+]]: f8E5M2)
// CHECK-DAG:   %[[C8:.+]] = arith.constant 8 : i16
// CHECK:       %[[BITS:.+]] = arith.bitcast %[[X]] : f8E5M2 to i8
// CHECK:       %[[WIDE:.+]] = arith.extui %[[BITS]] : i8 to i16
// CHECK:       %[[HIGH:.+]] = arith.shli %[[WIDE]], %[[C8]] : i16
// CHECK:       %[[HALF:.+]] = arith.bitcast %[[HIGH]] : i16 to f16
// CHECK:       %[[Y:.+]] = arith.extf %[[HALF]] : f16 to f32
// CHECK:       return %[[Y]]
func.func @widen_e5m2(%x: f8E5M2) -> f32 {
  %y = arith.extf %x : f8E5M2 to f32
  return %y : f32
}

// -----

// An f16 with another bias, but for NaN.
// CHECK-LABEL: func.func @widen_e4m3(
// CHECK-SAME:    %[[X:.+]]: vector<8xf8E4M3FN>)
// CHECK:       arith.bitcast %[[X]] : vector<8xf8E4M3FN> to vector<8xi8>
// CHECK:       %[[HALF:.+]] = arith.bitcast %{{.+}} : vector<8xi16> to vector<8xf16>
// CHECK:       %[[F:.+]] = arith.extf %[[HALF]] : vector<8xf16> to vector<8xf32>
// CHECK:       %[[S:.+]] = arith.mulf %[[F]], %{{.+}} : vector<8xf32>
// CHECK:       %[[N:.+]] = arith.cmpi eq,
// CHECK:       %[[Y:.+]] = arith.select %[[N]], %{{.+}}, %[[S]]
// CHECK:       return %[[Y]] : vector<8xf32>
func.func @widen_e4m3(%x: vector<8xf8E4M3FN>) -> vector<8xf32> {
  %y = arith.extf %x : vector<8xf8E4M3FN> to vector<8xf32>
  return %y : vector<8xf32>
}

// -----

// From f64 at once: twice rounded is not rounded once.
// CHECK-LABEL: func.func @round(
// CHECK-SAME:    %[[X:.+]]: f64, %[[Z:.+]]: bf16)
// CHECK:       %[[BITS:.+]] = arith.bitcast %[[X]] : f64 to i64
// CHECK:       %[[BYTE:.+]] = arith.trunci %{{.+}} : i64 to i8
// CHECK:       %[[Y:.+]] = arith.bitcast %[[BYTE]] : i8 to f8E5M2
// CHECK:       %[[F:.+]] = arith.extf %[[Z]] : bf16 to f32
// CHECK:       arith.bitcast %[[F]] : f32 to i32
// CHECK-NOT:   arith.truncf
// CHECK:       return %[[Y]], %{{.+}}
func.func @round(%x: f64, %z: bf16) -> (f8E5M2, f8E4M3FN) {
  %y = arith.truncf %x : f64 to f8E5M2
  %w = arith.truncf %z : bf16 to f8E4M3FN
  return %y, %w : f8E5M2, f8E4M3FN
}

// -----

// Other conversions stay as they are.
// CHECK-LABEL: func.func @no_change(
// CHECK-SAME:    %[[X:.+]]: bf16)
// CHECK-NEXT:  %[[Y:.+]] = arith.extf %[[X]] : bf16 to f32
// CHECK-NEXT:  return %[[Y]]
func.func @no_change(%x: bf16) -> f32 {
  %y = arith.extf %x : bf16 to f32
  return %y : f32
}

// -----

func.func @other_format(%x: f32) -> f8E4M3FNUZ {
  // expected-error @below {{no conversion between 'f8E4M3FNUZ' and 'f32': there are those of f8E4M3FN and f8E5M2 with f16, bf16, f32 and f64}}
  %y = arith.truncf %x : f32 to f8E4M3FNUZ
  return %y : f8E4M3FNUZ
}
