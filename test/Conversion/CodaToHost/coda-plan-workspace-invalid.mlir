// RUN: coda-opt %s --coda-plan-workspace --split-input-file --verify-diagnostics

func.func @data(%in: memref<1xi64>, %out: memref<4xf32>) -> memref<4xf32> attributes {
    coda.entry = {name = "data", inputs = [tensor<1xi64>], outputs = [tensor<4xf32>], launches = 0 : i32}} {
  %c0 = arith.constant 0 : index
  %n = memref.load %in[%c0] : memref<1xi64>
  %d = arith.index_cast %n : i64 to index
  // expected-error@below {{the size of this buffer does not follow from the shapes of the arguments}}
  %a = memref.alloc(%d) : memref<?xf32>
  %v = memref.load %a[%c0] : memref<?xf32>
  memref.store %v, %out[%c0] : memref<4xf32>
  return %out : memref<4xf32>
}

// -----

func.func @layout(%in: memref<4xf32>, %out: memref<4xf32>) -> memref<4xf32> attributes {
    coda.entry = {name = "layout", inputs = [tensor<4xf32>], outputs = [tensor<4xf32>], launches = 0 : i32}} {
  // expected-error@below {{has a layout; only compact ones are planned}}
  %a = memref.alloc() : memref<4xf32, strided<[2]>>
  memref.dealloc %a : memref<4xf32, strided<[2]>>
  return %out : memref<4xf32>
}

// -----

func.func @elsewhere(%in: memref<8xf32>, %out: memref<2x4xf32>) -> memref<2x4xf32> attributes {
    coda.entry = {name = "elsewhere", inputs = [tensor<8xf32>], outputs = [tensor<2x4xf32>], launches = 0 : i32}} {
  %r = memref.expand_shape %in [[0, 1]] output_shape [2, 4] : memref<8xf32> into memref<2x4xf32>
  // expected-error@below {{result 0 is not in the caller's buffer}}
  return %r : memref<2x4xf32>
}
