// RUN: coda-opt %s --coda-gpu-pad-rows --split-input-file --allow-unregistered-dialect | FileCheck %s

// A buffer that kernels alone write and read is made with rows of whole 16 bytes, and
// its extent is still known; an argument is copied once for both kernels that read it.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:.*]]: memref<?x64xbf16>, %[[A:.*]]: memref<4x64xbf16>, %[[B:.*]]: memref<128x4xbf16>, %[[Y:.*]]: memref<?x128xbf16>, %[[Z:.*]]: memref<?x128xbf16>)
// CHECK:       %[[M:.*]] = memref.dim %[[X]]
// CHECK-NEXT:  %[[P:.*]] = memref.alloc(%[[M]]) {alignment = 256 : i64} : memref<?x8xbf16>
// CHECK-NEXT:  %[[T:.*]] = memref.subview %[[P]][0, 0] [%[[M]], 4] [1, 1] : memref<?x8xbf16> to memref<?x4xbf16, strided<[8, 1]>>
// CHECK-NOT:   memref.alloc
// CHECK:       %[[E:.*]] = memref.dim %[[T]]
// CHECK-NEXT:  "test.use"(%[[E]])
// CHECK-NEXT:  call @down(%[[X]], %[[A]], %[[T]])
// CHECK-NEXT:  %[[Q:.*]] = memref.alloc() {alignment = 256 : i64} : memref<128x8xbf16>
// CHECK-NEXT:  %[[V:.*]] = memref.subview %[[Q]][0, 0] [128, 4] [1, 1] : memref<128x8xbf16> to memref<128x4xbf16, strided<[8, 1]>>
// CHECK-NEXT:  memref.copy %[[B]], %[[V]]
// CHECK-NEXT:  call @up(%[[T]], %[[V]], %[[Y]])
// CHECK-NOT:   memref.copy
// CHECK:       call @also(%[[T]], %[[V]], %[[Z]])
// CHECK:       func.func private @down(%{{.*}}: memref<?x64xbf16>, %{{.*}}: memref<4x64xbf16>, %{{.*}}: memref<?x4xbf16, strided<[8, 1]>>)
// CHECK:       func.func private @also(%{{.*}}: memref<?x4xbf16, strided<[8, 1]>>, %{{.*}}: memref<128x4xbf16, strided<[8, 1]>>,
// CHECK:       func.func private @up(%[[L:.*]]: memref<?x4xbf16, strided<[8, 1]>>, %[[R:.*]]: memref<128x4xbf16, strided<[8, 1]>>, %{{.*}}: memref<?x128xbf16>) attributes {coda.kernel}
// CHECK:         acc(%[[L]][m, k] * %[[R]][n, k] : memref<?x4xbf16, strided<[8, 1]>>, memref<128x4xbf16, strided<[8, 1]>>)
func.func @main(%x: memref<?x64xbf16>, %a: memref<4x64xbf16>, %b: memref<128x4xbf16>, %y: memref<?x128xbf16>, %z: memref<?x128xbf16>) {
  %c0 = arith.constant 0 : index
  %m = memref.dim %x, %c0 : memref<?x64xbf16>
  %t = memref.alloc(%m) {alignment = 256 : i64} : memref<?x4xbf16>
  %e = memref.dim %t, %c0 : memref<?x4xbf16>
  "test.use"(%e) : (index) -> ()
  call @down(%x, %a, %t) : (memref<?x64xbf16>, memref<4x64xbf16>, memref<?x4xbf16>) -> ()
  call @up(%t, %b, %y) : (memref<?x4xbf16>, memref<128x4xbf16>, memref<?x128xbf16>) -> ()
  call @also(%t, %b, %z) : (memref<?x4xbf16>, memref<128x4xbf16>, memref<?x128xbf16>) -> ()
  return
}
func.func private @down(%x: memref<?x64xbf16>, %w: memref<4x64xbf16>, %y: memref<?x4xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%x[m, k] * %w[n, k] : memref<?x64xbf16>, memref<4x64xbf16>) outs(%y[m, n] : memref<?x4xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  return
}
func.func private @also(%x: memref<?x4xbf16> {coda.padded_row = 1 : i64}, %w: memref<128x4xbf16> {coda.padded_row = 1 : i64}, %y: memref<?x128xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%x[m, k] * %w[n, k] : memref<?x4xbf16>, memref<128x4xbf16>) outs(%y[m, n] : memref<?x128xbf16>) {
  ^bb0(%v: f32):
    %s = arith.negf %v : f32
    %t = arith.truncf %s : f32 to bf16
    coda.yield %t : bf16
  }
  return
}
func.func private @up(%x: memref<?x4xbf16> {coda.padded_row = 1 : i64}, %w: memref<128x4xbf16> {coda.padded_row = 1 : i64}, %y: memref<?x128xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%x[m, k] * %w[n, k] : memref<?x4xbf16>, memref<128x4xbf16>) outs(%y[m, n] : memref<?x128xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  return
}

// -----

// What loops write has the rows that it has; and a copy of what is written between
// two readers is made for each.
// CHECK-LABEL: func.func @copied(
// CHECK-SAME:    %{{.*}}, %[[W:.*]]: memref<128x36xbf16>, %[[S:.*]]: memref<512x36xbf16>,
// CHECK:       "test.write"(%[[S]])
// CHECK:       memref.copy %[[S]], %[[S1:.*]] : memref<512x36xbf16> to memref<512x36xbf16, strided<[40, 1]>>
// CHECK:       memref.copy %[[W]], %[[W1:.*]] : memref<128x36xbf16> to memref<128x36xbf16, strided<[40, 1]>>
// CHECK:       call @read(%[[S1]], %[[W1]], %{{.*}})
// CHECK:       "test.write"(%[[S]])
// CHECK:       memref.copy %[[S]], %[[S2:.*]] : memref<512x36xbf16> to memref<512x36xbf16, strided<[40, 1]>>
// CHECK-NOT:   memref.copy
// CHECK:       call @read(%[[S2]], %[[W1]], %{{.*}})
func.func @copied(%x: memref<512x36xbf16>, %w: memref<128x36xbf16>, %s: memref<512x36xbf16>, %y: memref<512x128xbf16>, %z: memref<512x128xbf16>) {
  "test.write"(%s) : (memref<512x36xbf16>) -> ()
  call @read(%s, %w, %y) : (memref<512x36xbf16>, memref<128x36xbf16>, memref<512x128xbf16>) -> ()
  "test.write"(%s) : (memref<512x36xbf16>) -> ()
  call @read(%s, %w, %z) : (memref<512x36xbf16>, memref<128x36xbf16>, memref<512x128xbf16>) -> ()
  return
}
func.func private @read(%x: memref<512x36xbf16> {coda.padded_row = 1 : i64}, %w: memref<128x36xbf16> {coda.padded_row = 1 : i64}, %y: memref<512x128xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%x[m, k] * %w[n, k] : memref<512x36xbf16>, memref<128x36xbf16>) outs(%y[m, n] : memref<512x128xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  return
}

// -----

// Rows may be of several dims, which stay neighbours; a view of longer rows stands as
// it is.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME:    %[[X:.*]]: memref<64x512xbf16>, %[[W:.*]]: memref<512x12x3xbf16>,
// CHECK:       %[[P:.*]] = memref.alloc() {alignment = 256 : i64} : memref<512x40xbf16>
// CHECK-NEXT:  %[[S:.*]] = memref.subview %[[P]][0, 0] [512, 36] [1, 1] : memref<512x40xbf16> to memref<512x36xbf16, strided<[40, 1]>>
// CHECK-NEXT:  %[[V:.*]] = memref.expand_shape %[[S]] {{\[\[}}0], [1, 2]] output_shape [512, 12, 3] : memref<512x36xbf16, strided<[40, 1]>> into memref<512x12x3xbf16, strided<[40, 3, 1]>>
// CHECK-NEXT:  memref.copy %[[W]], %[[V]]
// CHECK-NEXT:  call @kernel(%[[X]], %[[V]],
// CHECK:       func.func private @kernel(%{{.*}}: memref<64x512xbf16>, %{{.*}}: memref<512x12x3xbf16, strided<[40, 3, 1]>>, %{{.*}}: memref<64x12x3xf32>) attributes {coda.kernel}
// CHECK:       func.func private @view(%{{.*}}: memref<64x512xbf16>, %{{.*}}: memref<512x4xbf16, strided<[64, 1]>>, %{{.*}}: memref<64x4xf32>) attributes {coda.kernel}
func.func @rows(%x: memref<64x512xbf16>, %w: memref<512x12x3xbf16>, %y: memref<64x12x3xf32>, %v: memref<512x64xbf16>, %z: memref<64x4xf32>) {
  call @kernel(%x, %w, %y) : (memref<64x512xbf16>, memref<512x12x3xbf16>, memref<64x12x3xf32>) -> ()
  %s = memref.subview %v[0, 0] [512, 4] [1, 1] : memref<512x64xbf16> to memref<512x4xbf16, strided<[64, 1]>>
  call @view(%x, %s, %z) : (memref<64x512xbf16>, memref<512x4xbf16, strided<[64, 1]>>, memref<64x4xf32>) -> ()
  return
}
func.func private @kernel(%x: memref<64x512xbf16>, %w: memref<512x12x3xbf16> {coda.padded_row = 1 : i64}, %y: memref<64x12x3xf32>) attributes {coda.kernel} {
  coda.gemm acc(%x[m, k] * %w[k, n0, n1] : memref<64x512xbf16>, memref<512x12x3xbf16>) outs(%y[m, n0, n1] : memref<64x12x3xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return
}
func.func private @view(%x: memref<64x512xbf16>, %w: memref<512x4xbf16, strided<[64, 1]>> {coda.padded_row = 1 : i64}, %y: memref<64x4xf32>) attributes {coda.kernel} {
  coda.gemm acc(%x[m, k] * %w[k, n] : memref<64x512xbf16>, memref<512x4xbf16, strided<[64, 1]>>) outs(%y[m, n] : memref<64x4xf32>) {
  ^bb0(%v: f32):
    coda.yield %v : f32
  }
  return
}

// -----

// What a call returns has rows as they are: the kernel that makes it stores it to
// longer ones, too, for all kernels that read it.
// CHECK-LABEL: func.func @returned(
// CHECK-SAME:    %[[X:.*]]: memref<?x64xbf16>, %[[A:.*]]: memref<4x64xbf16>, %[[B:.*]]: memref<128x8xbf16>, %[[T:.*]]: memref<?x4xbf16>, %[[Y:.*]]: memref<?x128xbf16>, %[[Z:.*]]: memref<?x128xbf16>)
// CHECK:       %[[M:.*]] = memref.dim %[[T]]
// CHECK-NEXT:  %[[P:.*]] = memref.alloc(%[[M]]) {alignment = 256 : i64} : memref<?x8xbf16>
// CHECK-NEXT:  %[[V:.*]] = memref.subview %[[P]][0, 0] [%[[M]], 4] [1, 1] : memref<?x8xbf16> to memref<?x4xbf16, strided<[8, 1]>>
// CHECK-NEXT:  call @down_padded(%[[X]], %[[A]], %[[T]], %[[V]])
// CHECK-NEXT:  call @up(%[[V]], %[[W:.*]], %[[Y]])
// CHECK-NEXT:  call @up(%[[V]], %[[W]], %[[Z]])
// CHECK:       call @down_padded(%[[X]], %[[A]], %[[T]], %[[V2:[^ ]+]])
// CHECK-NEXT:  call @up(%[[V2]], %[[W]], %[[Z]])
// CHECK-NEXT:  return
// CHECK-NOT:   @down(
// CHECK:       func.func private @down_padded(%{{.*}}: memref<?x64xbf16>, %{{.*}}: memref<4x64xbf16>, %[[O:.*]]: memref<?x4xbf16>, %[[Q:.*]]: memref<?x4xbf16, strided<[8, 1]>>) attributes {coda.kernel}
// CHECK:         outs(%[[O]][m, n], %[[Q]][m, n] :
// CHECK:         coda.yield %[[R:.*]], %[[R]] : bf16, bf16
func.func @returned(%x: memref<?x64xbf16>, %a: memref<4x64xbf16>, %b: memref<128x8xbf16>, %t: memref<?x4xbf16>, %y: memref<?x128xbf16>, %z: memref<?x128xbf16>) {
  %v = memref.subview %b[0, 0] [128, 4] [1, 1] : memref<128x8xbf16> to memref<128x4xbf16, strided<[8, 1]>>
  call @down(%x, %a, %t) : (memref<?x64xbf16>, memref<4x64xbf16>, memref<?x4xbf16>) -> ()
  call @up(%t, %v, %y) : (memref<?x4xbf16>, memref<128x4xbf16, strided<[8, 1]>>, memref<?x128xbf16>) -> ()
  call @up(%t, %v, %z) : (memref<?x4xbf16>, memref<128x4xbf16, strided<[8, 1]>>, memref<?x128xbf16>) -> ()
  call @down(%x, %a, %t) : (memref<?x64xbf16>, memref<4x64xbf16>, memref<?x4xbf16>) -> ()
  call @up(%t, %v, %z) : (memref<?x4xbf16>, memref<128x4xbf16, strided<[8, 1]>>, memref<?x128xbf16>) -> ()
  return
}
func.func private @down(%x: memref<?x64xbf16>, %w: memref<4x64xbf16>, %y: memref<?x4xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%x[m, k] * %w[n, k] : memref<?x64xbf16>, memref<4x64xbf16>) outs(%y[m, n] : memref<?x4xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  return
}
func.func private @up(%x: memref<?x4xbf16> {coda.padded_row = 1 : i64}, %w: memref<128x4xbf16, strided<[8, 1]>>, %y: memref<?x128xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%x[m, k] * %w[n, k] : memref<?x4xbf16>, memref<128x4xbf16, strided<[8, 1]>>) outs(%y[m, n] : memref<?x128xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  return
}

// -----

// Something else writes the buffer behind the kernel: it is copied.
// CHECK-LABEL: func.func @neg_written(
// CHECK:       call @down(
// CHECK-NEXT:  "test.write"
// CHECK:       memref.copy
// CHECK-NEXT:  call @up(
func.func @neg_written(%x: memref<?x64xbf16>, %a: memref<4x64xbf16>, %b: memref<128x8xbf16>, %t: memref<?x4xbf16>, %y: memref<?x128xbf16>) {
  %v = memref.subview %b[0, 0] [128, 4] [1, 1] : memref<128x8xbf16> to memref<128x4xbf16, strided<[8, 1]>>
  call @down(%x, %a, %t) : (memref<?x64xbf16>, memref<4x64xbf16>, memref<?x4xbf16>) -> ()
  "test.write"(%t) : (memref<?x4xbf16>) -> ()
  call @up(%t, %v, %y) : (memref<?x4xbf16>, memref<128x4xbf16, strided<[8, 1]>>, memref<?x128xbf16>) -> ()
  return
}
func.func private @down(%x: memref<?x64xbf16>, %w: memref<4x64xbf16>, %y: memref<?x4xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%x[m, k] * %w[n, k] : memref<?x64xbf16>, memref<4x64xbf16>) outs(%y[m, n] : memref<?x4xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  return
}
func.func private @up(%x: memref<?x4xbf16> {coda.padded_row = 1 : i64}, %w: memref<128x4xbf16, strided<[8, 1]>>, %y: memref<?x128xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%x[m, k] * %w[n, k] : memref<?x4xbf16>, memref<128x4xbf16, strided<[8, 1]>>) outs(%y[m, n] : memref<?x128xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  return
}
