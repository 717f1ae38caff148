// RUN: coda-opt %s -split-input-file -verify-diagnostics

// What the parser of tile ops says.

func.func @unknown_dim(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) {
  // expected-error @below {{unknown dim 'row': expected b, m, n, u, k or p and a number below 64}}
  %0 = coda.gemm acc(%a[row, k] * %b[k, n] : tensor<4x8xf32>, tensor<8x6xf32>)
      outs(%o[m, n] : tensor<4x6xf32>) {
  }
}

// -----

func.func @dim_number(%x: tensor<4xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{unknown dim 'n64': expected b, m, n, u, k or p and a number below 64}}
  %0 = coda.map ins(%x[n64] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
  }
}

// -----

func.func @dim_number_overflow(%x: tensor<4xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{unknown dim 'n99999999999999999999'}}
  %0 = coda.map ins(%x[n99999999999999999999] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
  }
}

// -----

func.func @dim_integer(%x: tensor<4xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{expected valid keyword}}
  %0 = coda.map ins(%x[0] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
  }
}

// -----

func.func @unknown_combiner(%x: tensor<4xf32>, %o: tensor<f32>) {
  // expected-error @below {{unknown combiner 'mul': expected add, max or logaddexp}}
  %0 = coda.map ins(%x[n] : tensor<4xf32>) outs(mul %o[] : tensor<f32>) {
  }
}

// -----

func.func @unknown_load_combiner(%x: tensor<3x4xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{unknown combiner 'fresh': expected add, max or logaddexp}}
  %0 = coda.map ins(fresh %x[p, n] : tensor<3x4xf32>) outs(%o[n] : tensor<4xf32>) {
  }
}

// -----

func.func @fresh_store(%x: tensor<4xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{'fresh' marks a reduction: expected a combiner after it}}
  %0 = coda.map ins(%x[n] : tensor<4xf32>) outs(fresh %o[n] : tensor<4xf32>) {
  }
}

// -----

func.func @product_types(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) {
  // expected-error @below {{expected 2 types, two per product}}
  %0 = coda.gemm acc(%a[m, k] * %b[k, n] : tensor<4x8xf32>)
      outs(%o[m, n] : tensor<4x6xf32>) {
  }
}

// -----

func.func @load_types(%x: tensor<4xf32>, %y: tensor<4xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{expected 2 types, one per operand}}
  %0 = coda.map ins(%x[n], %y[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
  }
}

// -----

func.func @output_types(%x: tensor<4xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{expected 1 types, one per operand}}
  %0 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>, tensor<4xf32>) {
  }
}

// -----

func.func @not_a_type(%x: tensor<4xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{expected non-function type}}
  %0 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : n) {
  }
}

// -----

func.func @no_accumulator(%x: tensor<4xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{expected 'acc'}}
  %0 = coda.gemm ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
  }
}

// -----

func.func @half_product(%a: tensor<4x8xf32>, %o: tensor<4x6xf32>) {
  // expected-error @below {{expected '*'}}
  %0 = coda.gemm acc(%a[m, k] : tensor<4x8xf32>) outs(%o[m, n] : tensor<4x6xf32>) {
  }
}

// -----

func.func @accumulator_of_map(%a: tensor<4x8xf32>, %b: tensor<8x6xf32>, %o: tensor<4x6xf32>) {
  // expected-error @below {{expected 'outs'}}
  %0 = coda.map acc(%a[m, k] * %b[k, n] : tensor<4x8xf32>, tensor<8x6xf32>)
      outs(%o[m, n] : tensor<4x6xf32>) {
  }
}

// -----

func.func @no_outputs(%x: tensor<4xf32>) {
  // expected-error @below {{expected SSA operand}}
  %0 = coda.map ins(%x[n] : tensor<4xf32>) outs() {
  }
}

// -----

func.func @no_indices(%x: tensor<f32>, %o: tensor<f32>) {
  // expected-error @below {{expected '['}}
  %0 = coda.map ins(%x : tensor<f32>) outs(%o[] : tensor<f32>) {
  }
}

// -----

func.func @no_region(%x: tensor<4xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{expected '{' to begin a region}}
  %0 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>)
  return
}

// -----

func.func @written_attribute(%x: tensor<4xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{'dims' follows from the operand lists: remove it}}
  %0 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) attributes {dims = 3} {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
}

// -----

func.func @undefined_operand(%o: tensor<4xf32>) {
  // expected-error @below {{use of undeclared SSA value name}}
  %0 = coda.map ins(%nowhere[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return
}

// -----

// expected-note @below {{prior use here}}
func.func @operand_type(%x: tensor<5xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{use of value '%x' expects different type than prior uses: 'tensor<4xf32>' vs 'tensor<5xf32>'}}
  %0 = coda.map ins(%x[n] : tensor<4xf32>) outs(%o[n] : tensor<4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return
}

// -----

func.func @group_of_one(%x: tensor<4xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{a group has at least 2 points}}
  %0 = coda.map ins(%x[n] : tensor<4xf32>) outs(add %o[n floordiv 1] : tensor<4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return
}

// -----

func.func @group_of_none(%x: tensor<4xf32>, %o: tensor<4xf32>) {
  // expected-error @below {{expected integer value}}
  %0 = coda.map ins(%x[n] : tensor<4xf32>) outs(add %o[n floordiv] : tensor<4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return
}
