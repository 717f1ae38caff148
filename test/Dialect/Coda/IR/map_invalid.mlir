// RUN: coda-opt %s -split-input-file -verify-diagnostics

func.func @map_c1(%x: tensor<4x4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{c1: map of operand #0 is not a projected permutation of the 1 dims}}
  %0 = coda.map ins(%x[n, n] : tensor<4x4xf32>) outs(%o[n] : tensor<4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @map_c2(%x: tensor<4x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c2: operand #1 has rank 2 but 3 indices}}
  %0 = coda.map ins(%x[m, n] : tensor<4x6xf32>) outs(%o[b, m, n] : tensor<4x6xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @map_c3(%x: tensor<4x6xf32>, %o: tensor<6x4xf32>) -> tensor<6x4xf32> {
  // expected-error @below {{c3: dim m is 4 and, in operand #1, 6}}
  %0 = coda.map ins(%x[m, n] : tensor<4x6xf32>) outs(%o[m, n] : tensor<6x4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return %0 : tensor<6x4xf32>
}

// -----

func.func @map_c3_points(%x: tensor<9x6xf32>, %o: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error @below {{c3: the u dims have 9 points: expected 2 to 8}}
  %0 = coda.map ins(%x[u, n] : tensor<9x6xf32>) outs(%o[n] : tensor<6xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return %0 : tensor<6xf32>
}

// -----

func.func @map_c6(%x: tensor<4x6xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{c6: operand #0 is indexed by a contraction dim but is no factor}}
  %0 = coda.map ins(%x[m, k] : tensor<4x6xf32>) outs(%o[m] : tensor<4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @map_c7(%x: tensor<4x6xf32>, %o: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error @below {{c7: stored output #0 must be indexed by every b, m and n dim}}
  %0 = coda.map ins(%x[m, n] : tensor<4x6xf32>) outs(%o[n] : tensor<6xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return %0 : tensor<6xf32>
}

// -----

func.func @map_c8(%x: tensor<4x6xbf16>, %o: tensor<4x6xbf16>) -> tensor<4x6xbf16> {
  // expected-error @below {{c8: the region must take 1 values ('bf16')}}
  %0 = coda.map ins(%x[m, n] : tensor<4x6xbf16>) outs(%o[m, n] : tensor<4x6xbf16>) {
  ^bb0(%v: f32):
    %b = arith.truncf %v : f32 to bf16
    coda.yield %b : bf16
  }
  return %0 : tensor<4x6xbf16>
}

// -----

func.func @map_c8_accumulator(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c8: a gemm has accumulators, a map has none}}
  %0 = "coda.map"(%a, %b, %o) <{acc_sizes = array<i32: 1>, combiners = [unit], dims = array<i32: 0, 1, 1, 0, 1, 0>, fresh = array<i1: false>, indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], load_combiners = [], operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
  ^bb0(%x: f32):
    coda.yield %x : f32
  }) : (tensor<4x8xf32>, tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

func.func @map_c9(%x: tensor<2x6xf32>, %o: tensor<2x6xf32>) -> tensor<2x6xf32> {
  // expected-error @below {{c9: the region must yield 2 values ('f32', 'f32')}}
  %0 = coda.map ins(%x[u, n] : tensor<2x6xf32>) outs(%o[u, n] : tensor<2x6xf32>) {
  ^bb0(%v: f32, %w: f32):
    coda.yield %v : f32
  }
  return %0 : tensor<2x6xf32>
}

// -----

func.func @map_c10(%x: tensor<4xi32>, %o: tensor<4xi32>) -> tensor<4xi32> {
  %0 = coda.map ins(%x[n] : tensor<4xi32>) outs(%o[n] : tensor<4xi32>) {
  ^bb0(%v: i32):
    // expected-error @below {{'arith.divui' op c10: an epilogue region holds speculatable scalar ops}}
    %r = arith.divui %v, %v : i32
    coda.yield %r : i32
  }
  return %0 : tensor<4xi32>
}

// -----

func.func @map_c11(%x: tensor<4x6xf16>, %o: tensor<4xf16>) -> tensor<4xf16> {
  // expected-error @below {{c11: reduction to 'f16': expected f32 or f64}}
  %0 = coda.map ins(%x[m, n] : tensor<4x6xf16>) outs(max %o[m] : tensor<4xf16>) {
  ^bb0(%v: f16):
    coda.yield %v : f16
  }
  return %0 : tensor<4xf16>
}

// -----

func.func @map_c13(%x: tensor<4xf32>, %o: memref<4xf32>) {
  // expected-error @below {{c13: operands must be all tensors or all memrefs}}
  coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : memref<4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return
}

// -----

// A number of results that the destinations do not have.
func.func @map_c13_results(%x: memref<4xf32>, %o: memref<4xf32>) {
  // expected-error @below {{expected the number of tensor results (1) to be equal to the number of output tensors (0)}}
  %0 = "coda.map"(%x, %o) <{acc_sizes = array<i32>, combiners = [unit], dims = array<i32: 0, 0, 1, 0, 0, 0>, fresh = array<i1: false>, indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], load_combiners = [unit], operandSegmentSizes = array<i32: 0, 0, 1, 1>}> ({
  ^bb0(%v: f32):
    coda.yield %v : f32
  }) : (memref<4xf32>, memref<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @map_c13_result_type(%x: tensor<4xf32>, %o: tensor<4xf32>) -> tensor<?xf32> {
  // expected-error @below {{expected type of operand #1 ('tensor<4xf32>') to match type of corresponding result ('tensor<?xf32>')}}
  %0 = "coda.map"(%x, %o) <{acc_sizes = array<i32>, combiners = [unit], dims = array<i32: 0, 0, 1, 0, 0, 0>, fresh = array<i1: false>, indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], load_combiners = [unit], operandSegmentSizes = array<i32: 0, 0, 1, 1>}> ({
  ^bb0(%v: f32):
    coda.yield %v : f32
  }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @map_c15(%x: tensor<3x4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{c15: operand #0: p dims index combining loads, and only them}}
  %0 = coda.map ins(%x[p, n] : tensor<3x4xf32>) outs(%o[n] : tensor<4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @map_c16_load(%x: tensor<2xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{c16: operand #0 has the index 'n floordiv 2' but is no reduction: only these go over groups}}
  %0 = coda.map ins(%x[n floordiv 2] : tensor<2xf32>) outs(%o[n] : tensor<4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @map_c16_store(%x: tensor<4xf32>, %o: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{c16: operand #1 has the index 'n floordiv 2' but is no reduction: only these go over groups}}
  %0 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n floordiv 2] : tensor<2xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return %0 : tensor<2xf32>
}

// -----

func.func @map_c16_extent(%x: tensor<300x4xf32>, %o: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // expected-error @below {{c16: output #0 has 2 groups 'm floordiv 128' of 300 points: expected 3}}
  %0 = coda.map ins(%x[m, n] : tensor<300x4xf32>) outs(add %o[m floordiv 128, n] : tensor<2x4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return %0 : tensor<2x4xf32>
}

// -----

func.func @map_c16_kind(%x: tensor<4x4xf32>, %y: tensor<4x2xf32>, %o: tensor<1xf32>) -> tensor<1xf32> {
  // expected-error @below {{c16: output #0: 'u floordiv 2' groups points of no b, m or n dim}}
  %0 = coda.map ins(%x[m, n], %y[m, u] : tensor<4x4xf32>, tensor<4x2xf32>) outs(add %o[u floordiv 2] : tensor<1xf32>) {
  ^bb0(%v: f32, %w0: f32, %w1: f32):
    coda.yield %v : f32
  }
  return %0 : tensor<1xf32>
}

// -----

func.func @map_c1_group_and_dim(%x: tensor<4x4xf32>, %o: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // expected-error @below {{c1: map of operand #1 is not a projected permutation of the 2 dims}}
  %0 = coda.map ins(%x[m, n] : tensor<4x4xf32>) outs(add %o[m floordiv 2, m] : tensor<2x4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return %0 : tensor<2x4xf32>
}

// -----

func.func @map_c1_only_groups(%x: tensor<4xf32>, %o: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // expected-error @below {{c1: dim m indexes no operand}}
  %0 = coda.map ins(%x[n] : tensor<4xf32>) outs(add %o[m floordiv 2, n] : tensor<2x4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return %0 : tensor<2x4xf32>
}
