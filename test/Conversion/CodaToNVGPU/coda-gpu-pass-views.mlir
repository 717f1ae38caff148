// RUN: coda-opt %s --coda-gpu-pass-views --split-input-file | FileCheck %s

// The slice of a joint weight is a factor where it is.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:.*]]: memref<128x64xbf16>, %[[W:.*]]: memref<64x512xbf16>, %[[Y:.*]]: memref<128x256xbf16>)
// CHECK-NEXT:  %[[S:.*]] = memref.subview %[[W]][0, 256] [64, 256] [1, 1]
// CHECK-NEXT:  call @kernel(%[[X]], %[[S]], %[[Y]])
// CHECK:       func.func private @kernel(%{{.*}}: memref<128x64xbf16>, %[[B:.*]]: memref<64x256xbf16, strided<[512, 1], offset: 256>>,
// CHECK:         coda.gemm
// CHECK-NEXT:      acc(%{{.*}}[m, k] * %[[B]][k, n] : memref<128x64xbf16>, memref<64x256xbf16, strided<[512, 1], offset: 256>>)
func.func @main(%x: memref<128x64xbf16>, %w: memref<64x512xbf16>, %y: memref<128x256xbf16>) {
  %s = memref.subview %w[0, 256] [64, 256] [1, 1] : memref<64x512xbf16> to memref<64x256xbf16, strided<[512, 1], offset: 256>>
  %c = memref.alloc() : memref<64x256xbf16>
  memref.copy %s, %c : memref<64x256xbf16, strided<[512, 1], offset: 256>> to memref<64x256xbf16>
  call @kernel(%x, %c, %y) : (memref<128x64xbf16>, memref<64x256xbf16>, memref<128x256xbf16>) -> ()
  return
}
func.func private @kernel(%x: memref<128x64xbf16>, %w: memref<64x256xbf16>, %y: memref<128x256xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%x[m, k] * %w[k, n] : memref<128x64xbf16>, memref<64x256xbf16>) outs(%y[m, n] : memref<128x256xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  return
}

// -----

// A slice at an odd place is no address of the copy engine; what the call writes is
// no longer what was copied; callers have to agree; what the region loads may be
// compact for other reasons.
// CHECK-LABEL: func.func @refused(
// CHECK:       memref.copy
// CHECK:       call @unaligned
// CHECK:       memref.copy
// CHECK:       call @written
// CHECK:       memref.copy
// CHECK:       call @two
// CHECK:       call @two
// CHECK:       memref.copy
// CHECK:       call @loaded
func.func @refused(%x: memref<128x64xbf16>, %w: memref<64x512xbf16>, %u: memref<64x512xbf16>, %y: memref<128x256xbf16>, %z: memref<64x256xbf16>, %r: memref<128x512xbf16>) {
  %s = memref.subview %w[0, 4] [64, 256] [1, 1] : memref<64x512xbf16> to memref<64x256xbf16, strided<[512, 1], offset: 4>>
  %c = memref.alloc() : memref<64x256xbf16>
  memref.copy %s, %c : memref<64x256xbf16, strided<[512, 1], offset: 4>> to memref<64x256xbf16>
  call @unaligned(%x, %c, %y) : (memref<128x64xbf16>, memref<64x256xbf16>, memref<128x256xbf16>) -> ()
  %t = memref.subview %u[0, 256] [64, 256] [1, 1] : memref<64x512xbf16> to memref<64x256xbf16, strided<[512, 1], offset: 256>>
  %d = memref.alloc() : memref<64x256xbf16>
  memref.copy %t, %d : memref<64x256xbf16, strided<[512, 1], offset: 256>> to memref<64x256xbf16>
  memref.copy %z, %t : memref<64x256xbf16> to memref<64x256xbf16, strided<[512, 1], offset: 256>>
  call @written(%x, %d, %y) : (memref<128x64xbf16>, memref<64x256xbf16>, memref<128x256xbf16>) -> ()
  %p = memref.subview %w[0, 256] [64, 256] [1, 1] : memref<64x512xbf16> to memref<64x256xbf16, strided<[512, 1], offset: 256>>
  %e = memref.alloc() : memref<64x256xbf16>
  memref.copy %p, %e : memref<64x256xbf16, strided<[512, 1], offset: 256>> to memref<64x256xbf16>
  call @two(%x, %e, %y) : (memref<128x64xbf16>, memref<64x256xbf16>, memref<128x256xbf16>) -> ()
  call @two(%x, %z, %y) : (memref<128x64xbf16>, memref<64x256xbf16>, memref<128x256xbf16>) -> ()
  %q = memref.subview %r[0, 256] [128, 256] [1, 1] : memref<128x512xbf16> to memref<128x256xbf16, strided<[512, 1], offset: 256>>
  %f = memref.alloc() : memref<128x256xbf16>
  memref.copy %q, %f : memref<128x256xbf16, strided<[512, 1], offset: 256>> to memref<128x256xbf16>
  call @loaded(%x, %z, %f, %y) : (memref<128x64xbf16>, memref<64x256xbf16>, memref<128x256xbf16>, memref<128x256xbf16>) -> ()
  return
}
func.func private @unaligned(%x: memref<128x64xbf16>, %w: memref<64x256xbf16>, %y: memref<128x256xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%x[m, k] * %w[k, n] : memref<128x64xbf16>, memref<64x256xbf16>) outs(%y[m, n] : memref<128x256xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  return
}
func.func private @written(%x: memref<128x64xbf16>, %w: memref<64x256xbf16>, %y: memref<128x256xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%x[m, k] * %w[k, n] : memref<128x64xbf16>, memref<64x256xbf16>) outs(%y[m, n] : memref<128x256xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  return
}
func.func private @two(%x: memref<128x64xbf16>, %w: memref<64x256xbf16>, %y: memref<128x256xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%x[m, k] * %w[k, n] : memref<128x64xbf16>, memref<64x256xbf16>) outs(%y[m, n] : memref<128x256xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  return
}
func.func private @loaded(%x: memref<128x64xbf16>, %w: memref<64x256xbf16>, %r: memref<128x256xbf16>, %y: memref<128x256xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%x[m, k] * %w[k, n] : memref<128x64xbf16>, memref<64x256xbf16>) ins(%r[m, n] : memref<128x256xbf16>) outs(%y[m, n] : memref<128x256xbf16>) {
  ^bb0(%v: f32, %u: bf16):
    %t = arith.truncf %v : f32 to bf16
    %s = arith.addf %t, %u : bf16
    coda.yield %s : bf16
  }
  return
}

// -----

// A compact part of what a region loads: of a bias, as heads.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:.*]]: memref<128x64xbf16>, %[[W:.*]]: memref<4x64x64xbf16>, %[[B:.*]]: memref<768xbf16>, %[[Y:.*]]: memref<128x4x64xbf16>)
// CHECK-NEXT:  %[[S:.*]] = memref.subview %[[B]][256] [256] [1]
// CHECK-NEXT:  %[[E:.*]] = memref.expand_shape %[[S]]
// CHECK-NEXT:  call @kernel(%[[X]], %[[W]], %[[E]], %[[Y]])
// CHECK:       func.func private @kernel(%{{.*}}, %{{.*}}, %[[L:.*]]: memref<4x64xbf16, strided<[64, 1], offset: 256>>, %{{.*}})
// CHECK:         coda.gemm
// CHECK-NEXT:      acc(
// CHECK-NEXT:      ins(%[[L]][n0, n1] : memref<4x64xbf16, strided<[64, 1], offset: 256>>)
func.func @main(%x: memref<128x64xbf16>, %w: memref<4x64x64xbf16>, %b: memref<768xbf16>, %y: memref<128x4x64xbf16>) {
  %s = memref.subview %b[256] [256] [1] : memref<768xbf16> to memref<256xbf16, strided<[1], offset: 256>>
  %e = memref.expand_shape %s [[0, 1]] output_shape [4, 64] : memref<256xbf16, strided<[1], offset: 256>> into memref<4x64xbf16, strided<[64, 1], offset: 256>>
  %c = memref.alloc() : memref<4x64xbf16>
  memref.copy %e, %c : memref<4x64xbf16, strided<[64, 1], offset: 256>> to memref<4x64xbf16>
  call @kernel(%x, %w, %c, %y) : (memref<128x64xbf16>, memref<4x64x64xbf16>, memref<4x64xbf16>, memref<128x4x64xbf16>) -> ()
  return
}
func.func private @kernel(%x: memref<128x64xbf16>, %w: memref<4x64x64xbf16>, %b: memref<4x64xbf16>, %y: memref<128x4x64xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%x[m, k] * %w[n0, n1, k] : memref<128x64xbf16>, memref<4x64x64xbf16>) ins(%b[n0, n1] : memref<4x64xbf16>) outs(%y[m, n0, n1] : memref<128x4x64xbf16>) {
  ^bb0(%v: f32, %l: bf16):
    %f = arith.extf %l : bf16 to f32
    %r = arith.addf %v, %f : f32
    %t = arith.truncf %r : f32 to bf16
    coda.yield %t : bf16
  }
  return
}

// -----

// Not one that starts within 16 bytes, nor one that the call writes.
// CHECK-LABEL: func.func @refused(
// CHECK:       memref.copy
// CHECK:       memref.copy
// CHECK:       call @kernel
func.func @refused(%x: memref<128x64xbf16>, %w: memref<64x64xbf16>, %b: memref<768xbf16>, %y: memref<128x64xbf16>) {
  %s = memref.subview %b[4] [64] [1] : memref<768xbf16> to memref<64xbf16, strided<[1], offset: 4>>
  %c = memref.alloc() : memref<64xbf16>
  memref.copy %s, %c : memref<64xbf16, strided<[1], offset: 4>> to memref<64xbf16>
  %o = memref.subview %y[64, 0] [1, 64] [1, 1] : memref<128x64xbf16> to memref<64xbf16, strided<[1], offset: 4096>>
  %d = memref.alloc() : memref<64xbf16>
  memref.copy %o, %d : memref<64xbf16, strided<[1], offset: 4096>> to memref<64xbf16>
  call @kernel(%x, %w, %c, %d, %y) : (memref<128x64xbf16>, memref<64x64xbf16>, memref<64xbf16>, memref<64xbf16>, memref<128x64xbf16>) -> ()
  return
}
func.func private @kernel(%x: memref<128x64xbf16>, %w: memref<64x64xbf16>, %b: memref<64xbf16>, %c: memref<64xbf16>, %y: memref<128x64xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%x[m, k] * %w[n, k] : memref<128x64xbf16>, memref<64x64xbf16>) ins(%b[n], %c[n] : memref<64xbf16>, memref<64xbf16>) outs(%y[m, n] : memref<128x64xbf16>) {
  ^bb0(%v: f32, %l: bf16, %g: bf16):
    %f = arith.extf %l : bf16 to f32
    %h = arith.extf %g : bf16 to f32
    %r = arith.addf %v, %f : f32
    %q = arith.addf %r, %h : f32
    %t = arith.truncf %q : f32 to bf16
    coda.yield %t : bf16
  }
  return
}

// -----

// Experts of one weight, or layers: their places differ, and the first is passed as it
// is. The kernel takes any offset.
// CHECK-LABEL: func.func @experts(
// CHECK-SAME:    %[[X:.*]]: memref<128x64xbf16>, %[[W:.*]]: memref<3x64x256xbf16>, %[[V:.*]]: memref<64x256xbf16>, %[[Y:.*]]: memref<128x256xbf16>)
// CHECK-NOT:   memref.copy
// CHECK:       %[[S1:.*]] = memref.subview %[[W]][1, 0, 0]
// CHECK:       %[[S2:.*]] = memref.subview %[[W]][2, 0, 0]
// CHECK:       %[[C0:.*]] = memref.cast %[[V]] : memref<64x256xbf16> to memref<64x256xbf16, strided<[256, 1], offset: ?>>
// CHECK-NEXT:  call @expert(%[[X]], %[[C0]], %[[Y]])
// CHECK-NEXT:  %[[C1:.*]] = memref.cast %[[S1]] : memref<64x256xbf16, strided<[256, 1], offset: 16384>> to memref<64x256xbf16, strided<[256, 1], offset: ?>>
// CHECK-NEXT:  call @expert(%[[X]], %[[C1]], %[[Y]])
// CHECK-NEXT:  %[[C2:.*]] = memref.cast %[[S2]] : memref<64x256xbf16, strided<[256, 1], offset: 32768>> to memref<64x256xbf16, strided<[256, 1], offset: ?>>
// CHECK-NEXT:  call @expert(%[[X]], %[[C2]], %[[Y]])
// CHECK:       func.func private @expert(%{{.*}}: memref<128x64xbf16>, %[[B:.*]]: memref<64x256xbf16, strided<[256, 1], offset: ?>>,
// CHECK:         coda.gemm
// CHECK-NEXT:      acc(%{{.*}}[m, k] * %[[B]][k, n] : memref<128x64xbf16>, memref<64x256xbf16, strided<[256, 1], offset: ?>>)
func.func @experts(%x: memref<128x64xbf16>, %w: memref<3x64x256xbf16>, %v: memref<64x256xbf16>, %y: memref<128x256xbf16>) {
  %s = memref.subview %w[1, 0, 0] [1, 64, 256] [1, 1, 1] : memref<3x64x256xbf16> to memref<64x256xbf16, strided<[256, 1], offset: 16384>>
  %c = memref.alloc() : memref<64x256xbf16>
  memref.copy %s, %c : memref<64x256xbf16, strided<[256, 1], offset: 16384>> to memref<64x256xbf16>
  %t = memref.subview %w[2, 0, 0] [1, 64, 256] [1, 1, 1] : memref<3x64x256xbf16> to memref<64x256xbf16, strided<[256, 1], offset: 32768>>
  %d = memref.alloc() : memref<64x256xbf16>
  memref.copy %t, %d : memref<64x256xbf16, strided<[256, 1], offset: 32768>> to memref<64x256xbf16>
  call @expert(%x, %v, %y) : (memref<128x64xbf16>, memref<64x256xbf16>, memref<128x256xbf16>) -> ()
  call @expert(%x, %c, %y) : (memref<128x64xbf16>, memref<64x256xbf16>, memref<128x256xbf16>) -> ()
  call @expert(%x, %d, %y) : (memref<128x64xbf16>, memref<64x256xbf16>, memref<128x256xbf16>) -> ()
  return
}
func.func private @expert(%x: memref<128x64xbf16>, %w: memref<64x256xbf16>, %y: memref<128x256xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%x[m, k] * %w[k, n] : memref<128x64xbf16>, memref<64x256xbf16>) outs(%y[m, n] : memref<128x256xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  return
}

// -----

// Not where the rows of one are further apart than those of another.
// CHECK-LABEL: func.func @experts_refused(
// CHECK:       memref.copy
// CHECK:       memref.copy
// CHECK-NOT:   memref.cast
// CHECK:       call @expert
// CHECK:       call @expert
func.func @experts_refused(%x: memref<128x64xbf16>, %w: memref<64x512xbf16>, %v: memref<3x64x256xbf16>, %y: memref<128x256xbf16>) {
  %s = memref.subview %w[0, 256] [64, 256] [1, 1] : memref<64x512xbf16> to memref<64x256xbf16, strided<[512, 1], offset: 256>>
  %c = memref.alloc() : memref<64x256xbf16>
  memref.copy %s, %c : memref<64x256xbf16, strided<[512, 1], offset: 256>> to memref<64x256xbf16>
  %t = memref.subview %v[2, 0, 0] [1, 64, 256] [1, 1, 1] : memref<3x64x256xbf16> to memref<64x256xbf16, strided<[256, 1], offset: 32768>>
  %d = memref.alloc() : memref<64x256xbf16>
  memref.copy %t, %d : memref<64x256xbf16, strided<[256, 1], offset: 32768>> to memref<64x256xbf16>
  call @expert(%x, %c, %y) : (memref<128x64xbf16>, memref<64x256xbf16>, memref<128x256xbf16>) -> ()
  call @expert(%x, %d, %y) : (memref<128x64xbf16>, memref<64x256xbf16>, memref<128x256xbf16>) -> ()
  return
}
func.func private @expert(%x: memref<128x64xbf16>, %w: memref<64x256xbf16>, %y: memref<128x256xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%x[m, k] * %w[k, n] : memref<128x64xbf16>, memref<64x256xbf16>) outs(%y[m, n] : memref<128x256xbf16>) {
  ^bb0(%v: f32):
    %t = arith.truncf %v : f32 to bf16
    coda.yield %t : bf16
  }
  return
}
