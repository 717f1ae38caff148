// RUN: coda-opt %s --coda-host-signature --split-input-file --verify-diagnostics

// expected-error@below {{argument 0 of 'complex' has type 'tensor<4xcomplex<f32>>'; an entry takes ranked tensors}}
func.func @complex(%a: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  return %a : tensor<4xcomplex<f32>>
}

// -----

// expected-error@below {{argument 1 of 'scalar' has type 'f32'; an entry takes tensors alone: make it a 'tensor<f32>', and read its number with tensor.extract}}
func.func @scalar(%a: tensor<4xf32>, %b: f32) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

// expected-error@below {{result 0 of 'scalar_result' has type 'i32'; an entry takes tensors alone: make it a 'tensor<i32>', and make it with tensor.from_elements}}
func.func @scalar_result(%a: tensor<i32>) -> i32 {
  %x = tensor.extract %a[] : tensor<i32>
  return %x : i32
}

// -----

// expected-error@below {{an argument of 'large' is a 'tensor<4000000000000x100000xi8>', of which the elements are more than 2^47: they do not all have an address; cut it in parts}}
func.func @large(%a: tensor<4000000000000x100000xi8>) -> tensor<4000000000000x100000xi8> {
  return %a : tensor<4000000000000x100000xi8>
}

// -----

func.func @large_intermediate(%a: tensor<4000000000000xf32>, %b: tensor<?x4000000000000xf32>) -> tensor<0x4000000000000x4000000000000xf32> {
  // expected-error@below {{'tensor.empty' gives a 'tensor<4000000000000x4000000000000xf32>', of which the elements are more than 2^47}}
  %e = tensor.empty() : tensor<4000000000000x4000000000000xf32>
  %r = tensor.empty() : tensor<0x4000000000000x4000000000000xf32>
  return %r : tensor<0x4000000000000x4000000000000xf32>
}

// -----

// expected-error@below {{function 'nothing' returns nothing}}
func.func @nothing(%a: tensor<4xf32>) {
  return
}

// -----

// expected-error@below {{the shape of a result of 'data_shape' depends on the data of argument 0}}
func.func @data_shape(%a: tensor<1xi64>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.extract %a[%c0] : tensor<1xi64>
  %d = arith.index_cast %n : i64 to index
  %e = tensor.empty(%d) : tensor<?xf32>
  return %e : tensor<?xf32>
}

// -----

// Which of two extents it is depends on the data.
// expected-error@below {{the shape of a result of 'data_branch' depends on the data of argument 0}}
func.func @data_branch(%c: tensor<i1>, %a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %p = tensor.extract %c[] : tensor<i1>
  %r = scf.if %p -> tensor<?xf32> {
    scf.yield %a : tensor<?xf32>
  } else {
    scf.yield %b : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}

// -----

func.func @gather(%a: tensor<8x4xf32>, %i: tensor<2x1xi64>) -> tensor<2x1x4xf32> {
  // expected-error@below {{'tensor.gather' has no lowering: it works on tensors and has no form on buffers; write it as linalg}}
  %r = tensor.gather %a[%i] gather_dims([0]) : (tensor<8x4xf32>, tensor<2x1xi64>) -> tensor<2x1x4xf32>
  return %r : tensor<2x1x4xf32>
}

// -----

func.func private @elsewhere(tensor<4xf32>) -> tensor<4xf32>
func.func @external(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{a call that cannot be inlined}}
  %r = call @elsewhere(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
