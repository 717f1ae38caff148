// RUN: coda-opt %s -split-input-file -verify-diagnostics

// What the assembly cannot say is in the generic form.

func.func @gemm_c1(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c1: map of operand #0 is not a projected permutation of the 3 dims}}
  %0 = "coda.gemm"(%a, %b, %o) <{acc_sizes = array<i32: 1>, combiners = [unit], dims = array<i32: 0, 1, 1, 0, 1, 0>, fresh = array<i1: false>, indexing_maps = [affine_map<(d0, d1, d2) -> (d0 + d2, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], load_combiners = [], operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
  ^bb0(%x: f32):
    coda.yield %x : f32
  }) : (tensor<4x8xf32>, tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c1_symbol(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c1: map of operand #1 is not a projected permutation of the 3 dims}}
  %0 = "coda.gemm"(%a, %b, %o) <{acc_sizes = array<i32: 1>, combiners = [unit], dims = array<i32: 0, 1, 1, 0, 1, 0>, fresh = array<i1: false>, indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2)[s0] -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], load_combiners = [], operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
  ^bb0(%x: f32):
    coda.yield %x : f32
  }) : (tensor<4x8xf32>, tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c1_constant(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c1: map of operand #2 is not a projected permutation of the 3 dims}}
  %0 = "coda.gemm"(%a, %b, %o) <{acc_sizes = array<i32: 1>, combiners = [unit], dims = array<i32: 0, 1, 1, 0, 1, 0>, fresh = array<i1: false>, indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, 0)>], load_combiners = [], operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
  ^bb0(%x: f32):
    coda.yield %x : f32
  }) : (tensor<4x8xf32>, tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c1_diagonal(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %v: tensor<4x4xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c1: map of operand #2 is not a projected permutation of the 3 dims}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xf32>, tensor<8x6xf32>)
      ins(%v[m, m] : tensor<4x4xf32>) outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32, %y: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c1_domain(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c1: map of operand #0 is not a projected permutation of the 4 dims}}
  %0 = "coda.gemm"(%a, %b, %o) <{acc_sizes = array<i32: 1>, combiners = [unit], dims = array<i32: 0, 1, 1, 0, 2, 0>, fresh = array<i1: false>, indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], load_combiners = [], operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
  ^bb0(%x: f32):
    coda.yield %x : f32
  }) : (tensor<4x8xf32>, tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c1_unused_dim(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c1: dim k0 indexes no operand}}
  %0 = coda.gemm acc(%a[m, k1] * %b[k1, n] : tensor<4x8xf32>, tensor<8x6xf32>)
      outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c1_one_map_each(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c1: one index map per operand expected, got 2}}
  %0 = "coda.gemm"(%a, %b, %o) <{acc_sizes = array<i32: 1>, combiners = [unit], dims = array<i32: 0, 1, 1, 0, 1, 0>, fresh = array<i1: false>, indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>], load_combiners = [], operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
  ^bb0(%x: f32):
    coda.yield %x : f32
  }) : (tensor<4x8xf32>, tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c1_counts(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c1: 'dims' counts the b, m, n, u, k and p dims, each 0 to 64}}
  %0 = "coda.gemm"(%a, %b, %o) <{acc_sizes = array<i32: 1>, combiners = [unit], dims = array<i32: 1, 1>, fresh = array<i1: false>, indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], load_combiners = [], operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
  ^bb0(%x: f32):
    coda.yield %x : f32
  }) : (tensor<4x8xf32>, tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c1_negative_count(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c1: 'dims' counts the b, m, n, u, k and p dims, each 0 to 64}}
  %0 = "coda.gemm"(%a, %b, %o) <{acc_sizes = array<i32: 1>, combiners = [unit], dims = array<i32: 0, 1, 1, -1, 2, 0>, fresh = array<i1: false>, indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], load_combiners = [], operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
  ^bb0(%x: f32):
    coda.yield %x : f32
  }) : (tensor<4x8xf32>, tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c1_huge_count(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c1: 'dims' counts the b, m, n, u, k and p dims, each 0 to 64}}
  %0 = "coda.gemm"(%a, %b, %o) <{acc_sizes = array<i32: 1>, combiners = [unit], dims = array<i32: 2147483647, 2147483647, 2147483647, 0, 1, 0>, fresh = array<i1: false>, indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], load_combiners = [], operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
  ^bb0(%x: f32):
    coda.yield %x : f32
  }) : (tensor<4x8xf32>, tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c2(%a: tensor<4x8x1xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c2: operand #0 has rank 3 but 2 indices}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8x1xf32>, tensor<8x6xf32>)
      outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c2_scalar(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %s: tensor<f32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c2: operand #2 has rank 0 but 1 indices}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xf32>, tensor<8x6xf32>)
      ins(%s[m] : tensor<f32>) outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32, %y: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c3(%a: tensor<4x8xf32>, %b: tensor<9x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c3: dim k is 8 and, in operand #1, 9}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xf32>, tensor<9x6xf32>)
      outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c3_unrolled_static(%a: tensor<4x8xf32>, %b: tensor<8x?x6xf32>, %o: tensor<4x2x6xf32>) -> tensor<4x2x6xf32> {
  // expected-error @below {{c3: unrolled dim u of operand #1 must be static}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, u, n] : tensor<4x8xf32>, tensor<8x?x6xf32>)
      outs(%o[m, u, n] : tensor<4x2x6xf32>) {
  ^bb0(%x: f32, %y: f32):
    coda.yield %x, %y : f32, f32
  }
  return %0 : tensor<4x2x6xf32>
}

// -----

func.func @gemm_c3_one_point(%a: tensor<4x8xf32>, %b: tensor<8x1x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c3: the u dims have 1 points: expected 2 to 8}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, u, n] : tensor<4x8xf32>, tensor<8x1x6xf32>)
      outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<4x6xf32>
}

// -----

// The product of the extents does not fit 64 bits.
func.func @gemm_c3_many_points(%a: tensor<4x8xf32>, %b: tensor<8x4294967296x4294967296x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c3: the u dims have 9223372036854775807 points: expected 2 to 8}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, u0, u1, n] : tensor<4x8xf32>, tensor<8x4294967296x4294967296x6xf32>)
      outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c4(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{c4: product #0: lhs is indexed by all b and m dims and k, rhs by all b and n dims, k and possibly u}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, m] : tensor<4x8xf32>, tensor<8x4xf32>)
      outs(%o[m] : tensor<4xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @gemm_c4_lhs_unrolled(%a: tensor<4x2x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x2x6xf32>) -> tensor<4x2x6xf32> {
  // expected-error @below {{c4: product #0: lhs is indexed by all b and m dims and k}}
  %0 = coda.gemm acc(%a[m, u, k] * %b[k, n] : tensor<4x2x8xf32>, tensor<8x6xf32>)
      outs(%o[m, u, n] : tensor<4x2x6xf32>) {
  ^bb0(%x: f32, %y: f32):
    coda.yield %x, %y : f32, f32
  }
  return %0 : tensor<4x2x6xf32>
}

// -----

func.func @gemm_c4_batch(%a: tensor<2x4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<2x4x6xf32>) -> tensor<2x4x6xf32> {
  // expected-error @below {{c4: product #0: lhs is indexed by all b and m dims and k}}
  %0 = coda.gemm acc(%a[b, m, k] * %b[k, n] : tensor<2x4x8xf32>, tensor<8x6xf32>)
      outs(%o[b, m, n] : tensor<2x4x6xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<2x4x6xf32>
}

// -----

func.func @gemm_c4_no_contraction(%a: tensor<4xf32>, %b: tensor<6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c4: product #0: lhs is indexed by all b and m dims and k}}
  %0 = coda.gemm acc(%a[m] * %b[n] : tensor<4xf32>, tensor<6xf32>)
      outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c4_one_factor(%a: tensor<4x8x3xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c4: product #0: contraction dim k1 indexes one factor only}}
  %0 = coda.gemm acc(%a[m, k0, k1] * %b[k0, n] : tensor<4x8x3xf32>, tensor<8x6xf32>)
      outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c4_types(%a: tensor<4x8xf16>, %b: tensor<8x6xbf16>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c4: product #0: factors of types 'f16' and 'bf16': expected one type, f16, bf16, f32, f64 or i8, or two 8-bit floats, with one accumulator type}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xf16>, tensor<8x6xbf16>)
      outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c4_unsupported_type(%a: tensor<4x8xi32>, %b: tensor<8x6xi32>, %o: tensor<4x6xi32>) -> tensor<4x6xi32> {
  // expected-error @below {{c4: product #0: factors of types 'i32' and 'i32': expected one type}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xi32>, tensor<8x6xi32>)
      outs(%o[m, n] : tensor<4x6xi32>) {
  ^bb0(%x: i32):
    coda.yield %x : i32
  }
  return %0 : tensor<4x6xi32>
}

// -----

func.func @gemm_c4_unsigned(%a: tensor<4x8xui8>, %b: tensor<8x6xui8>, %o: tensor<4x6xi32>) -> tensor<4x6xi32> {
  // expected-error @below {{c4: product #0: factors of types 'ui8' and 'ui8': expected one type}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xui8>, tensor<8x6xui8>)
      outs(%o[m, n] : tensor<4x6xi32>) {
  ^bb0(%x: i32):
    coda.yield %x : i32
  }
  return %0 : tensor<4x6xi32>
}

// -----

func.func @gemm_c4_accumulator_types(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %c: tensor<4x8xf64>, %d: tensor<8x6xf64>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c4: product #1: factors of types 'f64' and 'f64': expected one type}}
  %0 = coda.gemm acc(%a[m, k0] * %b[k0, n] + %c[m, k1] * %d[k1, n] : tensor<4x8xf32>, tensor<8x6xf32>, tensor<4x8xf64>, tensor<8x6xf64>)
      outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c4_segments(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c4: as many lhs as rhs factors expected, got 2 and 0}}
  %0 = "coda.gemm"(%a, %b, %o) <{acc_sizes = array<i32: 1>, combiners = [unit], dims = array<i32: 0, 1, 1, 0, 1, 0>, fresh = array<i1: false>, indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], load_combiners = [], operandSegmentSizes = array<i32: 2, 0, 0, 1>}> ({
  ^bb0(%x: f32):
    coda.yield %x : f32
  }) : (tensor<4x8xf32>, tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c5(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %c: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c5: contraction dim k is used by two products of one accumulator}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] + %a[m, k] * %c[k, n] : tensor<4x8xf32>, tensor<8x6xf32>, tensor<4x8xf32>, tensor<8x6xf32>)
      outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c6(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %s: tensor<8xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c6: operand #2 is indexed by a contraction dim but is no factor}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xf32>, tensor<8x6xf32>)
      ins(%s[k] : tensor<8xf32>) outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32, %y: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c6_output(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6x8xf32>) -> tensor<4x6x8xf32> {
  // expected-error @below {{c6: operand #2 is indexed by a contraction dim but is no factor}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xf32>, tensor<8x6xf32>)
      outs(%o[m, n, k] : tensor<4x6x8xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<4x6x8xf32>
}

// -----

func.func @gemm_c7(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{c7: stored output #0 must be indexed by every b, m and n dim}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xf32>, tensor<8x6xf32>)
      outs(%o[m] : tensor<4xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @gemm_c7_reduction(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c7: reduced output #0 must drop a b, m or n dim}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xf32>, tensor<8x6xf32>)
      outs(add %o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<4x6xf32>
}

// -----

// Only a u dim is dropped: the points would overwrite each other.
func.func @gemm_c7_unrolled(%a: tensor<4x8xf32>, %b: tensor<8x2x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c7: reduced output #0 must drop a b, m or n dim}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, u, n] : tensor<4x8xf32>, tensor<8x2x6xf32>)
      outs(add %o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32, %y: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c7_no_output(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>) {
  // expected-error @below {{c7: at least one output expected}}
  "coda.gemm"(%a, %b) <{acc_sizes = array<i32: 1>, combiners = [], dims = array<i32: 0, 1, 1, 0, 1, 0>, fresh = array<i1>, indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>], load_combiners = [], operandSegmentSizes = array<i32: 1, 1, 0, 0>}> ({
  ^bb0(%x: f32):
    coda.yield
  }) : (tensor<4x8xf32>, tensor<8x6xf32>) -> ()
  return
}

// -----

func.func @gemm_c7_counts(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c7: one combiner and one 'fresh' per output}}
  %0 = "coda.gemm"(%a, %b, %o) <{acc_sizes = array<i32: 1>, combiners = [unit, unit], dims = array<i32: 0, 1, 1, 0, 1, 0>, fresh = array<i1: false>, indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], load_combiners = [], operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
  ^bb0(%x: f32):
    coda.yield %x : f32
  }) : (tensor<4x8xf32>, tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c7_combiner_kind(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c7: output #0: 'combiners' holds unit or combiner attributes}}
  %0 = "coda.gemm"(%a, %b, %o) <{acc_sizes = array<i32: 1>, combiners = ["add"], dims = array<i32: 0, 1, 1, 0, 1, 0>, fresh = array<i1: false>, indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], load_combiners = [], operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
  ^bb0(%x: f32):
    coda.yield %x : f32
  }) : (tensor<4x8xf32>, tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c7_fresh_store(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c7: output #0: only reductions are fresh}}
  %0 = "coda.gemm"(%a, %b, %o) <{acc_sizes = array<i32: 1>, combiners = [unit], dims = array<i32: 0, 1, 1, 0, 1, 0>, fresh = array<i1: true>, indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], load_combiners = [], operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
  ^bb0(%x: f32):
    coda.yield %x : f32
  }) : (tensor<4x8xf32>, tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c8(%a: tensor<4x8xf32>, %b: tensor<8x2x6xf32>, %o: tensor<4x2x6xf32>) -> tensor<4x2x6xf32> {
  // expected-error @below {{c8: the region must take 2 values ('f32', 'f32')}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, u, n] : tensor<4x8xf32>, tensor<8x2x6xf32>)
      outs(%o[m, u, n] : tensor<4x2x6xf32>) {
  ^bb0(%x: f32):
    coda.yield %x, %x : f32, f32
  }
  return %0 : tensor<4x2x6xf32>
}

// -----

// The accumulator of bf16 factors is f32.
func.func @gemm_c8_type(%a: tensor<4x8xbf16>, %b: tensor<8x6xbf16>, %o: tensor<4x6xbf16>) -> tensor<4x6xbf16> {
  // expected-error @below {{c8: the region must take 1 values ('f32')}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xbf16>, tensor<8x6xbf16>)
      outs(%o[m, n] : tensor<4x6xbf16>) {
  ^bb0(%x: bf16):
    coda.yield %x : bf16
  }
  return %0 : tensor<4x6xbf16>
}

// -----

func.func @gemm_c8_order(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %r: tensor<4x6xbf16>, %t: tensor<4xi32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c8: the region must take 3 values ('f32', 'bf16', 'i32')}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xf32>, tensor<8x6xf32>)
      ins(%r[m, n], %t[m] : tensor<4x6xbf16>, tensor<4xi32>)
      outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%y: bf16, %i: i32, %x: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c8_unrolled_products(%a: tensor<4x8xf32>, %b: tensor<8x2x6xf32>, %c: tensor<4x3xf32>, %d: tensor<3x6xf32>, %o: tensor<4x2x6xf32>) -> tensor<4x2x6xf32> {
  // expected-error @below {{c8: products of one accumulator differ in the u dim u}}
  %0 = coda.gemm acc(%a[m, k0] * %b[k0, u, n] + %c[m, k1] * %d[k1, n] : tensor<4x8xf32>, tensor<8x2x6xf32>, tensor<4x3xf32>, tensor<3x6xf32>)
      outs(%o[m, u, n] : tensor<4x2x6xf32>) {
  ^bb0(%x: f32, %y: f32):
    coda.yield %x, %y : f32, f32
  }
  return %0 : tensor<4x2x6xf32>
}

// -----

func.func @gemm_c8_sizes(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c8: 'acc_sizes' sums to 2 but there are 1 products}}
  %0 = "coda.gemm"(%a, %b, %o) <{acc_sizes = array<i32: 2>, combiners = [unit], dims = array<i32: 0, 1, 1, 0, 1, 0>, fresh = array<i1: false>, indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], load_combiners = [], operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
  ^bb0(%x: f32):
    coda.yield %x : f32
  }) : (tensor<4x8xf32>, tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c8_negative_size(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c8: an accumulator needs at least one product}}
  %0 = "coda.gemm"(%a, %b, %o) <{acc_sizes = array<i32: 2, -1>, combiners = [unit], dims = array<i32: 0, 1, 1, 0, 1, 0>, fresh = array<i1: false>, indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], load_combiners = [], operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
  ^bb0(%x: f32):
    coda.yield %x : f32
  }) : (tensor<4x8xf32>, tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c8_no_accumulator(%x: tensor<4x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c8: a gemm has accumulators, a map has none}}
  %0 = "coda.gemm"(%x, %o) <{acc_sizes = array<i32>, combiners = [unit], dims = array<i32: 0, 1, 1, 0, 0, 0>, fresh = array<i1: false>, indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], load_combiners = [unit], operandSegmentSizes = array<i32: 0, 0, 1, 1>}> ({
  ^bb0(%v: f32):
    coda.yield %v : f32
  }) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c8_element_type(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %z: tensor<4xcomplex<f32>>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c8: operand #2 has elements of type 'complex<f32>': expected floats or integers}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xf32>, tensor<8x6xf32>)
      ins(%z[m] : tensor<4xcomplex<f32>>) outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32, %c: complex<f32>):
    coda.yield %x : f32
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c9(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xbf16>, %s: tensor<4xf32>) -> (tensor<4x6xbf16>, tensor<4xf32>) {
  // expected-error @below {{c9: the region must yield 2 values ('bf16', 'f32')}}
  %0:2 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xf32>, tensor<8x6xf32>)
      outs(%o[m, n], add %s[m] : tensor<4x6xbf16>, tensor<4xf32>) {
  ^bb0(%x: f32):
    coda.yield %x, %x : f32, f32
  }
  return %0#0, %0#1 : tensor<4x6xbf16>, tensor<4xf32>
}

// -----

func.func @gemm_c9_count(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c9: the region must yield 1 values ('f32')}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xf32>, tensor<8x6xf32>)
      outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32):
    coda.yield
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c9_terminator(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c9: the region must end with coda.yield}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xf32>, tensor<8x6xf32>)
      outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32):
    llvm.unreachable
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c10(%a: tensor<4x8xi8>, %b: tensor<8x6xi8>, %d: tensor<4xi32>, %o: tensor<4x6xi32>) -> tensor<4x6xi32> {
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xi8>, tensor<8x6xi8>)
      ins(%d[m] : tensor<4xi32>) outs(%o[m, n] : tensor<4x6xi32>) {
  ^bb0(%x: i32, %y: i32):
    // expected-error @below {{'arith.divsi' op c10: an epilogue region holds speculatable scalar ops of arith and math, coda.index and coda.group_reduce only}}
    %q = arith.divsi %x, %y : i32
    coda.yield %q : i32
  }
  return %0 : tensor<4x6xi32>
}

// -----

func.func @gemm_c10_region(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xf32>, tensor<8x6xf32>)
      outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32):
    // expected-error @below {{'scf.execute_region' op c10: an epilogue region holds speculatable scalar ops}}
    %y = scf.execute_region -> f32 {
      scf.yield %x : f32
    }
    coda.yield %y : f32
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c10_other_dialect(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xf32>, tensor<8x6xf32>)
      outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32):
    // expected-error @below {{'complex.create' op c10: an epilogue region holds speculatable scalar ops}}
    %c = complex.create %x, %x : complex<f32>
    coda.yield %x : f32
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c10_vector(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xf32>, tensor<8x6xf32>)
      outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32):
    // expected-error @below {{'arith.constant' op c10: an epilogue region computes scalars}}
    %c = arith.constant dense<1.0> : vector<4xf32>
    coda.yield %x : f32
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c10_isolated(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>, %s: f32) -> tensor<4x6xf32> {
  // expected-note @below {{required by region isolation constraints}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xf32>, tensor<8x6xf32>)
      outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32):
    // expected-error @below {{op using value defined outside the region}}
    %y = arith.mulf %x, %s : f32
    coda.yield %y : f32
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c11(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4xbf16>) -> tensor<4xbf16> {
  // expected-error @below {{c11: reduction to 'bf16': expected f32 or f64}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xf32>, tensor<8x6xf32>)
      outs(add %o[m] : tensor<4xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return %0 : tensor<4xbf16>
}

// -----

func.func @gemm_c11_integer(%a: tensor<4x8xi8>, %b: tensor<8x6xi8>, %o: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @below {{c11: reduction to 'i32': expected f32 or f64}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xi8>, tensor<8x6xi8>)
      outs(max %o[m] : tensor<4xi32>) {
  ^bb0(%x: i32):
    coda.yield %x : i32
  }
  return %0 : tensor<4xi32>
}

// -----

func.func @gemm_c11_load(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %s: tensor<3x4xf16>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c11: combining load of operand #2 must be f32 or f64}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xf32>, tensor<8x6xf32>)
      ins(add %s[p, m] : tensor<3x4xf16>) outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32, %y: f16):
    coda.yield %x : f32
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c12(%a: tensor<4x8xf32>, %b: tensor<8x?xf32>, %o: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xf32>, tensor<8x?xf32>)
      outs(%o[m, n] : tensor<4x?xf32>) {
  ^bb0(%x: f32):
    // expected-error @below {{c12: groups are over different static n dims, 'n0' is none}}
    %g = coda.group_reduce add %x over [n] : f32
    coda.yield %g : f32
  }
  return %0 : tensor<4x?xf32>
}

// -----

func.func @gemm_c13(%a: tensor<4x8xf32>, %b: memref<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c13: operands must be all tensors or all memrefs}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xf32>, memref<8x6xf32>)
      outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c13_vector(%a: vector<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c13: operand #0 is a 'vector<4x8xf32>': expected a ranked tensor or a memref}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : vector<4x8xf32>, tensor<8x6xf32>)
      outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c13_unranked(%a: tensor<*xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c13: operand #0 is a 'tensor<*xf32>': expected a ranked tensor or a memref}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<*xf32>, tensor<8x6xf32>)
      outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c13_unranked_memref(%a: memref<*xf32>, %b: memref<8x6xf32>, %o: memref<4x6xf32>) {
  // expected-error @below {{c13: operand #0 is a 'memref<*xf32>': expected a ranked tensor or a memref}}
  coda.gemm acc(%a[m, k] * %b[k, n] : memref<*xf32>, memref<8x6xf32>)
      outs(%o[m, n] : memref<4x6xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

func.func @gemm_c14(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xindex>) -> tensor<4x6xindex> {
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xf32>, tensor<8x6xf32>)
      outs(%o[m, n] : tensor<4x6xindex>) {
  ^bb0(%x: f32):
    // expected-error @below {{c14: 'k0' is not a b, m or n dim of the tile op}}
    %i = coda.index k
    coda.yield %i : index
  }
  return %0 : tensor<4x6xindex>
}

// -----

func.func @gemm_c15(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %s: tensor<3x4xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c15: operand #2: p dims index combining loads, and only them}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xf32>, tensor<8x6xf32>)
      ins(%s[p, m] : tensor<3x4xf32>) outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32, %y: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c15_no_partial(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %s: tensor<4xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c15: operand #2: p dims index combining loads, and only them}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xf32>, tensor<8x6xf32>)
      ins(add %s[m] : tensor<4xf32>) outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32, %y: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c15_output(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<3x4x6xf32>) -> tensor<3x4x6xf32> {
  // expected-error @below {{c15: operand #2: p dims index combining loads, and only them}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xf32>, tensor<8x6xf32>)
      outs(%o[p, m, n] : tensor<3x4x6xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<3x4x6xf32>
}

// -----

func.func @gemm_c15_factor(%a: tensor<4x8x3xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c15: operand #0: p dims index combining loads, and only them}}
  %0 = coda.gemm acc(%a[m, k, p] * %b[k, n] : tensor<4x8x3xf32>, tensor<8x6xf32>)
      outs(%o[m, n] : tensor<4x6xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c15_count(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c15: one load combiner per input}}
  %0 = "coda.gemm"(%a, %b, %o) <{acc_sizes = array<i32: 1>, combiners = [unit], dims = array<i32: 0, 1, 1, 0, 1, 0>, fresh = array<i1: false>, indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], load_combiners = [unit], operandSegmentSizes = array<i32: 1, 1, 0, 1>}> ({
  ^bb0(%x: f32):
    coda.yield %x : f32
  }) : (tensor<4x8xf32>, tensor<8x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

func.func @gemm_c15_combiner_kind(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %s: tensor<4xf32>, %o: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // expected-error @below {{c15: operand #2: 'load_combiners' holds unit or combiner attributes}}
  %0 = "coda.gemm"(%a, %b, %s, %o) <{acc_sizes = array<i32: 1>, combiners = [unit], dims = array<i32: 0, 1, 1, 0, 1, 0>, fresh = array<i1: false>, indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0)>, affine_map<(d0, d1, d2) -> (d0, d1)>], load_combiners = [3 : i32], operandSegmentSizes = array<i32: 1, 1, 1, 1>}> ({
  ^bb0(%x: f32, %y: f32):
    coda.yield %x : f32
  }) : (tensor<4x8xf32>, tensor<8x6xf32>, tensor<4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
