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

// An angle less its whole turns, which two additions round to.
// CHECK-LABEL: func.func @cos
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK-DAG: %[[TURN:.*]] = arith.constant 0.159154937 : f32
// CHECK-DAG: %[[WHOLE:.*]] = arith.constant 0x4B400000 : f32
// CHECK-DAG: %[[HIGH:.*]] = arith.constant -6.281250e+00 : f32
// CHECK-DAG: %[[LOW:.*]] = arith.constant -0.00193530717 : f32
// CHECK: %[[T:.*]] = math.fma %[[X]], %[[TURN]], %[[WHOLE]] : f32
// CHECK: %[[N:.*]] = arith.subf %[[T]], %[[WHOLE]] : f32
// CHECK: %[[H:.*]] = math.fma %[[N]], %[[HIGH]], %[[X]] : f32
// CHECK: %[[R:.*]] = math.fma %[[N]], %[[LOW]], %[[H]] : f32
// CHECK: %[[C:.*]] = llvm.call_intrinsic "llvm.nvvm.cos.approx.ftz.f"(%[[R]])
// CHECK: return %[[C]]
func.func @cos(%x: f32) -> f32 {
  %0 = math.cos %x : f32
  return %0 : f32
}

// -----

// Only the instruction is repeated for each element.
// CHECK-LABEL: func.func @vector_in_16_bits
// CHECK-SAME: (%[[X:.*]]: vector<2xbf16>)
// CHECK: %[[W:.*]] = llvm.bitcast %[[X]] : vector<2xbf16> to i32
// CHECK: %[[S:.*]] = arith.shli %[[W]], %c16_i32
// CHECK: %[[H:.*]] = arith.andi %[[W]], %c-65536_i32
// CHECK: %[[E0:.*]] = arith.bitcast %[[S]] : i32 to f32
// CHECK: %[[E1:.*]] = arith.bitcast %[[H]] : i32 to f32
// CHECK: %[[R0:.*]] = llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.ftz.f"(%[[E0]])
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

// bf16 is the upper half of f32, in the word of two as well. What is stored so,
// and other types, are what they were.
// CHECK-LABEL: func.func @extend_pairs
// CHECK-SAME: (%[[X:.*]]: vector<4xbf16>, %[[Y:.*]]: vector<4xf16>, %[[Z:.*]]: vector<3xbf16>)
// CHECK: %[[W:.*]] = vector.bitcast %[[X]] : vector<4xbf16> to vector<2xi32>
// CHECK: %[[A:.*]] = vector.extract %[[W]][0]
// CHECK: %[[A0:.*]] = arith.shli %[[A]], %c16_i32
// CHECK: %[[A1:.*]] = arith.andi %[[A]], %c-65536_i32
// CHECK: %[[F0:.*]] = arith.bitcast %[[A0]]
// CHECK: %[[F1:.*]] = arith.bitcast %[[A1]]
// CHECK: %[[B:.*]] = vector.extract %[[W]][1]
// CHECK: %[[B0:.*]] = arith.shli %[[B]], %c16_i32
// CHECK: %[[B1:.*]] = arith.andi %[[B]], %c-65536_i32
// CHECK: %[[F2:.*]] = arith.bitcast %[[B0]]
// CHECK: %[[F3:.*]] = arith.bitcast %[[B1]]
// CHECK: vector.from_elements %[[F0]], %[[F1]], %[[F2]], %[[F3]] : vector<4xf32>
// CHECK: arith.extf %[[Y]] : vector<4xf16> to vector<4xf32>
// CHECK: arith.extf %[[Z]] : vector<3xbf16> to vector<3xf32>
// STRICT-LABEL: func.func @extend_pairs
// STRICT-COUNT-2: arith.shli
func.func @extend_pairs(%x: vector<4xbf16>, %y: vector<4xf16>, %z: vector<3xbf16>)
    -> (vector<4xf32>, vector<4xf32>, vector<3xf32>) {
  %0 = arith.extf %x : vector<4xbf16> to vector<4xf32>
  %1 = arith.extf %y : vector<4xf16> to vector<4xf32>
  %2 = arith.extf %z : vector<3xbf16> to vector<3xf32>
  return %0, %1, %2 : vector<4xf32>, vector<4xf32>, vector<3xf32>
}

// -----

// A sum of two products is added a product at a time: two instructions, each
// rounded once. Not what has another reader, nor in the source's own order.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: (%[[S:.*]]: f32, %[[X:.*]]: vector<2xf32>, %[[Y:.*]]: vector<2xf32>)
// CHECK: %[[P:.*]] = arith.mulf %[[X]], %[[X]] fastmath<contract> : vector<2xf32>
// CHECK: %[[Q:.*]] = arith.mulf %[[Y]], %[[Y]] fastmath<contract> : vector<2xf32>
// CHECK: %[[P0:.*]] = vector.extract %[[P]][0]
// CHECK: %[[S0:.*]] = arith.addf %[[S]], %[[P0]] fastmath<contract>
// CHECK: %[[Q0:.*]] = vector.extract %[[Q]][0]
// CHECK: %[[S1:.*]] = arith.addf %[[S0]], %[[Q0]] fastmath<contract>
// CHECK: %[[P1:.*]] = vector.extract %[[P]][1]
// CHECK: %[[S2:.*]] = arith.addf %[[S1]], %[[P1]] fastmath<contract>
// CHECK: %[[Q1:.*]] = vector.extract %[[Q]][1]
// CHECK: %[[S3:.*]] = arith.addf %[[S2]], %[[Q1]] fastmath<contract>
// CHECK: return %[[S3]]
// STRICT-LABEL: func.func @chain
// STRICT: %[[V:.*]] = arith.addf %{{.*}}, %{{.*}} : vector<2xf32>
// STRICT: %[[V0:.*]] = vector.extract %[[V]][0]
// STRICT: arith.addf %{{.*}}, %[[V0]] : f32
func.func @chain(%s: f32, %x: vector<2xf32>, %y: vector<2xf32>) -> f32 {
  %0 = arith.mulf %x, %x : vector<2xf32>
  %1 = arith.mulf %y, %y : vector<2xf32>
  %2 = arith.addf %0, %1 : vector<2xf32>
  %3 = vector.extract %2[0] : f32 from vector<2xf32>
  %4 = arith.addf %s, %3 : f32
  %5 = vector.extract %2[1] : f32 from vector<2xf32>
  %6 = arith.addf %4, %5 : f32
  return %6 : f32
}

// -----

// CHECK-LABEL: func.func @chain_not
// CHECK: %[[P:.*]] = arith.mulf
// CHECK: %[[Q:.*]] = arith.mulf
// CHECK: %[[V:.*]] = arith.addf %[[P]], %[[Q]]
// CHECK: %[[S:.*]] = arith.addf %{{.*}}, %[[V]]
// CHECK: return %[[S]], %[[V]]
func.func @chain_not(%s: f32, %x: f32, %y: f32) -> (f32, f32) {
  %0 = arith.mulf %x, %x : f32
  %1 = arith.mulf %y, %y : f32
  %2 = arith.addf %0, %1 : f32
  %3 = arith.addf %s, %2 : f32
  return %3, %2 : f32, f32
}

// -----

// Three products: none of them is what the other two are added to, in turn.
// CHECK-LABEL: func.func @chain_of_products
// CHECK-SAME: (%[[A:.*]]: f32, %[[B:.*]]: f32)
// CHECK-DAG: %[[P:.*]] = arith.mulf %[[A]], %[[B]]
// CHECK-DAG: %[[Q:.*]] = arith.mulf %[[A]], %[[A]]
// CHECK: %[[S:.*]] = arith.addf %[[P]], %[[Q]]
// CHECK: %[[T:.*]] = arith.addf %[[S]], %[[Q]]
// CHECK: return %[[T]]
func.func @chain_of_products(%a: f32, %b: f32) -> f32 {
  %p = arith.mulf %a, %b : f32
  %q = arith.mulf %a, %a : f32
  %s = arith.addf %p, %q : f32
  %t = arith.addf %s, %q : f32
  return %t : f32
}

// -----

// CHECK-LABEL: func.func @div
// CHECK-SAME: (%[[X:.*]]: f32, %[[Y:.*]]: f32)
// CHECK: %[[R:.*]] = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%[[Y]])
// CHECK: %[[D:.*]] = arith.mulf %[[X]], %[[R]] : f32
// CHECK: %[[ONE:.*]] = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%[[Y]])
// CHECK: return %[[D]], %[[ONE]]
// STRICT-LABEL: func.func @div
// STRICT-SAME: (%[[X:.*]]: f32, %[[Y:.*]]: f32)
// STRICT: arith.divf %[[X]], %[[Y]] : f32
func.func @div(%x: f32, %y: f32) -> (f32, f32) {
  %one = arith.constant 1.0 : f32
  %0 = arith.divf %x, %y : f32
  %1 = arith.divf %one, %y : f32
  return %0, %1 : f32, f32
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

// Of two, as a kernel's chunk has them: one after the other.
// CHECK-LABEL: func.func @pair_of_f64
// CHECK-SAME: (%[[X:.*]]: vector<2xf64>)
// CHECK: %[[A:.*]] = vector.extract %[[X]][0] : f64 from vector<2xf64>
// CHECK: %[[R:.*]] = llvm.call_intrinsic "llvm.sqrt"(%[[A]])
// CHECK: %[[B:.*]] = vector.extract %[[X]][1] : f64 from vector<2xf64>
// CHECK: %[[S:.*]] = llvm.call_intrinsic "llvm.sqrt"(%[[B]])
// CHECK: vector.from_elements %[[R]], %[[S]] : vector<2xf64>
func.func @pair_of_f64(%x: vector<2xf64>) -> vector<2xf64> {
  %0 = math.sqrt %x : vector<2xf64>
  return %0 : vector<2xf64>
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
