// RUN: coda-opt %s -split-input-file -verify-diagnostics

func.func @bundle_b1(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %0 = coda.bundle -> tensor<4xf32> {
    // expected-error @below {{'tensor.empty' op b1: a bundle holds tile ops only}}
    %e = tensor.empty() : tensor<4xf32>
    %1 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
    ^bb0(%v: f32):
      coda.yield %v : f32
    }
    coda.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @bundle_b1_nested(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  %0 = coda.bundle -> tensor<4xf32> {
    // expected-error @below {{'coda.bundle' op b1: a bundle holds tile ops only}}
    %1 = coda.bundle -> tensor<4xf32> {
      %2 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
      ^bb0(%v: f32):
        coda.yield %v : f32
      }
      coda.yield %2 : tensor<4xf32>
    }
    coda.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @bundle_b2(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %o: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = coda.bundle -> tensor<4x4xf32> {
    %1 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x4xf32>, tensor<4x4xf32>)
        outs(%o[m, n] : tensor<4x4xf32>) {
    ^bb0(%x: f32):
      coda.yield %x : f32
    }
    // expected-error @below {{'coda.gemm' op b2: members of a bundle must be independent}}
    %2 = coda.gemm acc(%1[m, k] * %b[k, n] : tensor<4x4xf32>, tensor<4x4xf32>)
        outs(%o[m, n] : tensor<4x4xf32>) {
    ^bb0(%x: f32):
      coda.yield %x : f32
    }
    coda.yield %2 : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}

// -----

// What a member writes the other must not access, whichever comes first.
func.func @bundle_b2_memrefs(%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>) {
  coda.bundle {
    // expected-error @below {{'coda.map' op b2: members of a bundle must be independent}}
    coda.map ins(%x[n] : memref<4xf32>) outs(%y[n] : memref<4xf32>) {
    ^bb0(%v: f32):
      coda.yield %v : f32
    }
    coda.map ins(%z[n] : memref<4xf32>) outs(%x[n] : memref<4xf32>) {
    ^bb0(%v: f32):
      coda.yield %v : f32
    }
    coda.yield
  }
  return
}

// -----

func.func @bundle_b3(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<?xf32> {
  // expected-error @below {{b3: the yielded values must match the results}}
  %0 = coda.bundle -> tensor<?xf32> {
    %1 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
    ^bb0(%v: f32):
      coda.yield %v : f32
    }
    coda.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<?xf32>
}

// -----

func.func @bundle_b3_count(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{b3: the yielded values must match the results}}
  %0 = coda.bundle -> tensor<4xf32> {
    %1 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
    ^bb0(%v: f32):
      coda.yield %v : f32
    }
    coda.yield
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @bundle_b3_from_outside(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{b3: a bundle yields what its members give}}
  %0 = coda.bundle -> tensor<4xf32> {
    coda.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @bundle_b3_terminator() {
  // expected-error @below {{b3: the yielded values must match the results}}
  coda.bundle {
    llvm.unreachable
  }
  return
}

// -----

func.func @bundle_argument(%o: tensor<4xf32>) {
  // expected-error @below {{region should have no arguments}}
  "coda.bundle"() ({
  ^bb0(%x: tensor<4xf32>):
    "coda.yield"() : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @bundle_no_region() {
  // expected-error @below {{requires one region}}
  "coda.bundle"() : () -> ()
  return
}

// -----

func.func @bundle_empty_region() {
  // expected-error @below {{region with 1 blocks}}
  "coda.bundle"() ({}) : () -> ()
  return
}

// -----

func.func @bundle_two_blocks() {
  // expected-error @below {{expects region #0 to have 0 or 1 blocks}}
  "coda.bundle"() ({
    "coda.yield"() : () -> ()
  ^bb1:
    "coda.yield"() : () -> ()
  }) : () -> ()
  return
}

// -----

func.func @bundle_empty_block() {
  // expected-error @below {{expects a non-empty block}}
  "coda.bundle"() ({
  ^bb0:
  }) : () -> ()
  return
}
