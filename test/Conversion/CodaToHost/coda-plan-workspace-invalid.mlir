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

// Which of two extents it is depends on the data.
func.func @branches(%in: memref<1xi1>, %x: memref<?x?xf32>, %out: memref<4xf32>) -> memref<4xf32> attributes {
    coda.entry = {name = "branches", inputs = [tensor<1xi1>, tensor<?x?xf32>], outputs = [tensor<4xf32>], launches = 0 : i32}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %m = memref.dim %x, %c0 : memref<?x?xf32>
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  %c = memref.load %in[%c0] : memref<1xi1>
  %a = memref.alloc(%m) : memref<?xf32>
  %b = memref.alloc(%n) : memref<?xf32>
  %r = arith.select %c, %a, %b : memref<?xf32>
  %e = memref.dim %r, %c0 : memref<?xf32>
  %q = arith.ceildivui %e, %c3 : index
  // expected-error@below {{the size of this buffer does not follow from the shapes of the arguments}}
  %d = memref.alloc(%q) : memref<?xf32>
  %v = memref.load %d[%c0] : memref<?xf32>
  memref.store %v, %out[%c0] : memref<4xf32>
  return %out : memref<4xf32>
}

// -----

// A reshape of another buffer.
func.func @not_written(%in: memref<4xf32>, %out: memref<4xf32>) -> memref<4xf32> attributes {
    coda.entry = {name = "not_written", inputs = [tensor<4xf32>], outputs = [tensor<4xf32>], launches = 0 : i32}} {
  %a = memref.alloc() : memref<4xf32>
  linalg.exp ins(%in : memref<4xf32>) outs(%a : memref<4xf32>)
  %v = memref.expand_shape %a [[0, 1]] output_shape [2, 2] : memref<4xf32> into memref<2x2xf32>
  %w = memref.collapse_shape %v [[0, 1]] : memref<2x2xf32> into memref<4xf32>
  // expected-error@below {{result 0 is not in the caller's buffer}}
  return %w : memref<4xf32>
}
