// RUN: coda-opt %s -split-input-file -verify-diagnostics -coda-decompose

func.func @on_memrefs(%x: memref<4xf32>, %o: memref<4xf32>) {
  // expected-error @below {{'coda.map' op cannot be decomposed: it works on memrefs; run coda-decompose before bufferization}}
  coda.map ins(%x[n] : memref<4xf32>) outs(%o[n] : memref<4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return
}

// -----

func.func @bundle_on_memrefs(%x: memref<4xf32>, %o: memref<4xf32>) {
  coda.bundle {
    // expected-error @below {{'coda.map' op cannot be decomposed: it works on memrefs; run coda-decompose before bufferization}}
    coda.map ins(%x[n] : memref<4xf32>) outs(%o[n] : memref<4xf32>) {
    ^bb0(%v: f32):
      coda.yield %v : f32
    }
    coda.yield
  }
  return
}
