// RUN: coda-opt %s --coda-host-signature --split-input-file --verify-diagnostics

// expected-error@below {{argument 0 of 'complex' has type 'tensor<4xcomplex<f32>>'; an entry takes ranked tensors}}
func.func @complex(%a: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  return %a : tensor<4xcomplex<f32>>
}

// -----

// expected-error@below {{argument 1 of 'scalar' has type 'f32'}}
func.func @scalar(%a: tensor<4xf32>, %b: f32) -> tensor<4xf32> {
  return %a : tensor<4xf32>
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
