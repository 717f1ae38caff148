// RUN: coda-opt %s --coda-gpu-lower-f8 --canonicalize -split-input-file | FileCheck %s

// Clamped to what is finite: the instruction, which saturates, is all.
// CHECK-LABEL: func.func @clamped(
// CHECK-SAME:    %[[X:.+]]: vector<4xf32>)
// CHECK:       %[[MIN:.+]] = arith.minimumf %[[X]]
// CHECK:       %[[MAX:.+]] = arith.maximumf %[[MIN]]
// CHECK:       %[[X1:.+]] = vector.extract %[[MAX]][1]
// CHECK:       %[[X0:.+]] = vector.extract %[[MAX]][0]
// CHECK:       %[[LOW:.+]] = nvvm.convert.f32x2.to.f8x2 %[[X1]], %[[X0]] {{.*}}rn{{.*}}satfinite{{.*}} : vector<2xi8>{{ ?}}(f8E4M3FN)
// CHECK:       %[[X3:.+]] = vector.extract %[[MAX]][3]
// CHECK:       %[[X2:.+]] = vector.extract %[[MAX]][2]
// CHECK:       %[[HIGH:.+]] = nvvm.convert.f32x2.to.f8x2 %[[X3]], %[[X2]]
// CHECK:       %[[CODES:.+]] = vector.from_elements {{.*}} : vector<4xi8>
// CHECK-NOT:   arith.select
// CHECK:       %[[Q:.+]] = arith.bitcast %[[CODES]] : vector<4xi8> to vector<4xf8E4M3FN>
// CHECK:       return %[[Q]]
func.func @clamped(%x: vector<4xf32>) -> vector<4xf8E4M3FN> {
  %high = arith.constant dense<448.0> : vector<4xf32>
  %low = arith.constant dense<-448.0> : vector<4xf32>
  %min = arith.minimumf %x, %high : vector<4xf32>
  %max = arith.maximumf %min, %low : vector<4xf32>
  %q = arith.truncf %max : vector<4xf32> to vector<4xf8E4M3FN>
  return %q : vector<4xf8E4M3FN>
}

// -----

// As torch clamps.
// CHECK-LABEL: func.func @compared(
// CHECK-COUNT-2: arith.select
// CHECK-NOT:   arith.select
// CHECK:       return
func.func @compared(%x: vector<4xf32>) -> vector<4xf8E5M2> {
  %high = arith.constant dense<57344.0> : vector<4xf32>
  %low = arith.constant dense<-57344.0> : vector<4xf32>
  %p = arith.cmpf ult, %x, %low : vector<4xf32>
  %y = arith.select %p, %low, %x : vector<4xi1>, vector<4xf32>
  %r = arith.cmpf ugt, %y, %high : vector<4xf32>
  %z = arith.select %r, %high, %y : vector<4xi1>, vector<4xf32>
  %q = arith.truncf %z : vector<4xf32> to vector<4xf8E5M2>
  return %q : vector<4xf8E5M2>
}

// -----

// Not clamped, or not far enough: beyond 448 and what rounds to it is NaN.
// CHECK-LABEL: func.func @beyond(
// CHECK-SAME:    %[[X:.+]]: vector<2xf32>)
// CHECK-DAG:   %[[NAN:.+]] = arith.constant dense<127> : vector<2xi8>
// CHECK-DAG:   %[[LAST:.+]] = arith.constant dense<1139277824> : vector<2xi32>
// CHECK:       %[[Y:.+]] = arith.minimumf
// CHECK:       %[[CODES:.+]] = nvvm.convert.f32x2.to.f8x2
// CHECK:       %[[BITS:.+]] = arith.bitcast %[[Y]] : vector<2xf32> to vector<2xi32>
// CHECK:       %[[ABS:.+]] = arith.andi %[[BITS]]
// CHECK:       %[[P:.+]] = arith.cmpi ugt, %[[ABS]], %[[LAST]]
// CHECK:       %[[ALL:.+]] = arith.select %[[P]], %[[NAN]], %[[CODES]]
// CHECK:       arith.bitcast %[[ALL]] : vector<2xi8> to vector<2xf8E4M3FN>
func.func @beyond(%x: vector<2xf32>) -> vector<2xf8E4M3FN> {
  %high = arith.constant dense<500.0> : vector<2xf32>
  %y = arith.minimumf %x, %high : vector<2xf32>
  %q = arith.truncf %y : vector<2xf32> to vector<2xf8E4M3FN>
  return %q : vector<2xf8E4M3FN>
}

// -----

// A scalar is one of a pair; f16 has room for all of them.
// CHECK-LABEL: func.func @widened(
// CHECK-SAME:    %[[X:.+]]: f8E4M3FN, %[[Y:.+]]: vector<2xf8E5M2>)
// CHECK:       %[[PAIR:.+]] = vector.broadcast %[[X]] : f8E4M3FN to vector<2xf8E4M3FN>
// CHECK:       %[[BITS:.+]] = arith.bitcast %[[PAIR]] : vector<2xf8E4M3FN> to vector<2xi8>
// CHECK:       nvvm.convert.f8x2.to.f16x2 %{{.+}} : vector<2xi8>{{ ?}}(f8E4M3FN)
// CHECK:       arith.extf %{{.+}} : vector<2xf16> to vector<2xf32>
// CHECK:       %[[F:.+]] = vector.extract %{{.+}}[0] : f32
// CHECK:       %[[BITS2:.+]] = arith.bitcast %[[Y]] : vector<2xf8E5M2> to vector<2xi8>
// CHECK:       nvvm.convert.f8x2.to.f16x2 %{{.+}} : vector<2xi8>{{ ?}}(f8E5M2)
// CHECK:       return %[[F]], %{{.+}} : f32, vector<2xf16>
func.func @widened(%x: f8E4M3FN, %y: vector<2xf8E5M2>) -> (f32, vector<2xf16>) {
  %f = arith.extf %x : f8E4M3FN to f32
  %h = arith.extf %y : vector<2xf8E5M2> to vector<2xf16>
  return %f, %h : f32, vector<2xf16>
}

// -----

// Left for coda-expand-f8.
// CHECK-LABEL: func.func @no_f64(
// CHECK-NEXT:  arith.truncf %{{.+}} : f64 to f8E4M3FN
func.func @no_f64(%x: f64) -> f8E4M3FN {
  %q = arith.truncf %x : f64 to f8E4M3FN
  return %q : f8E4M3FN
}
