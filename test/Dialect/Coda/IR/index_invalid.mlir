// RUN: coda-opt %s -split-input-file -verify-diagnostics

func.func @index_parent() -> index {
  // expected-error @below {{'coda.index' op expects parent op to be one of 'coda.gemm, coda.map'}}
  %0 = coda.index m
  return %0 : index
}

// -----

func.func @index_c14(%o: tensor<4xindex>) -> tensor<4xindex> {
  %0 = coda.map outs(%o[n] : tensor<4xindex>) {
    // expected-error @below {{c14: 'n1' is not a b, m or n dim of the tile op}}
    %i = coda.index n1
    coda.yield %i : index
  }
  return %0 : tensor<4xindex>
}

// -----

func.func @index_c14_unrolled(%o: tensor<2x4xindex>) -> tensor<2x4xindex> {
  %0 = coda.map outs(%o[u, n] : tensor<2x4xindex>) {
    // expected-error @below {{c14: 'u0' is not a b, m or n dim of the tile op}}
    %i = coda.index u
    coda.yield %i, %i : index, index
  }
  return %0 : tensor<2x4xindex>
}

// -----

func.func @index_c14_huge(%o: tensor<4xindex>) -> tensor<4xindex> {
  %0 = coda.map outs(%o[n] : tensor<4xindex>) {
    // expected-error @below {{c14: 'n4294967295' is not a b, m or n dim of the tile op}}
    %i = coda.index n4294967295
    coda.yield %i : index
  }
  return %0 : tensor<4xindex>
}

// -----

func.func @index_unknown(%o: tensor<4xindex>) -> tensor<4xindex> {
  %0 = coda.map outs(%o[n] : tensor<4xindex>) {
    // expected-error @below {{expected a dim such as 'm' or 'n1', got 'row'}}
    %i = coda.index row
    coda.yield %i : index
  }
  return %0 : tensor<4xindex>
}

// -----

func.func @index_overflow(%o: tensor<4xindex>) -> tensor<4xindex> {
  %0 = coda.map outs(%o[n] : tensor<4xindex>) {
    // expected-error @below {{expected a dim such as 'm' or 'n1', got 'n4294967296'}}
    %i = coda.index n4294967296
    coda.yield %i : index
  }
  return %0 : tensor<4xindex>
}

// -----

func.func @index_attribute(%o: tensor<4xindex>) -> tensor<4xindex> {
  %0 = coda.map outs(%o[n] : tensor<4xindex>) {
    // expected-error @below {{Invalid attribute `dim` in property conversion: "n"}}
    %i = "coda.index"() <{dim = "n"}> : () -> index
    coda.yield %i : index
  }
  return %0 : tensor<4xindex>
}

// -----

func.func @index_no_attribute(%o: tensor<4xindex>) -> tensor<4xindex> {
  %0 = coda.map outs(%o[n] : tensor<4xindex>) {
    // expected-error @below {{requires attribute 'dim'}}
    %i = "coda.index"() : () -> index
    coda.yield %i : index
  }
  return %0 : tensor<4xindex>
}

// -----

// expected-error @below {{expected a dim such as 'm' or 'n1', got 'z'}}
func.func private @dim_attribute() attributes {dim = #coda.dim<z>}
