// RUN: coda-opt %s --coda-gpu-mark-unwritten --split-input-file | FileCheck %s

// The second kernel may load its weights before it waits, not what the first
// writes; the first waits for nothing of its call.
// CHECK: func.func private @first(%{{.+}}: memref<64x64xbf16>, %{{.+}}: memref<64x64xbf16>, %{{.+}}: memref<64x64xbf16>) attributes
// CHECK: func.func private @second(%{{.+}}: memref<64x64xbf16>, %{{.+}}: memref<64x64xbf16> {coda.unwritten}, %{{.+}}: memref<64x64xbf16>) attributes
func.func @main(%x: memref<64x64xbf16>, %w0: memref<64x64xbf16>, %w1: memref<64x64xbf16>, %z: memref<64x64xbf16>, %s: memref<?xi8>) {
  %c0 = arith.constant 0 : index
  %y = memref.view %s[%c0][] : memref<?xi8> to memref<64x64xbf16>
  call @first(%x, %w0, %y) : (memref<64x64xbf16>, memref<64x64xbf16>, memref<64x64xbf16>) -> ()
  call @second(%y, %w1, %z) : (memref<64x64xbf16>, memref<64x64xbf16>, memref<64x64xbf16>) -> ()
  return
}
func.func private @first(%a: memref<64x64xbf16>, %w: memref<64x64xbf16>, %o: memref<64x64xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x64xbf16>, memref<64x64xbf16>) outs(%o[m, n] : memref<64x64xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}
func.func private @second(%a: memref<64x64xbf16>, %w: memref<64x64xbf16>, %o: memref<64x64xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x64xbf16>, memref<64x64xbf16>) outs(%o[m, n] : memref<64x64xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// Views are what they are views of, of arguments of the entry and of the kernel.
// CHECK: func.func private @second(%{{.+}}: memref<64x64xbf16> {coda.unwritten}, %{{.+}}: memref<64x64xbf16>,
func.func @main(%x: memref<2x32x64xbf16>, %w: memref<64x64xbf16>, %y: memref<64x64xbf16>, %z: memref<4096xbf16>) {
  %v = memref.collapse_shape %x [[0, 1], [2]] : memref<2x32x64xbf16> into memref<64x64xbf16>
  %u = memref.expand_shape %z [[0, 1]] output_shape [64, 64] : memref<4096xbf16> into memref<64x64xbf16>
  call @second(%v, %w, %y) : (memref<64x64xbf16>, memref<64x64xbf16>, memref<64x64xbf16>) -> ()
  call @second(%v, %u, %u) : (memref<64x64xbf16>, memref<64x64xbf16>, memref<64x64xbf16>) -> ()
  return
}
func.func private @second(%a: memref<64x64xbf16>, %w: memref<64x64xbf16>, %o: memref<64x64xbf16>) attributes {coda.kernel} {
  %f = memref.collapse_shape %o [[0, 1]] : memref<64x64xbf16> into memref<4096xbf16>
  %v = memref.expand_shape %f [[0, 1]] output_shape [64, 64] : memref<4096xbf16> into memref<64x64xbf16>
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x64xbf16>, memref<64x64xbf16>) outs(%v[m, n] : memref<64x64xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// What any work of the call writes is written: a later kernel, a copy, a loop. So
// is what cannot be traced.
// CHECK: func.func private @k1(%{{.+}}: memref<64x64xbf16>, %{{.+}}: memref<64x64xbf16>, %{{.+}}: memref<64x64xbf16>) attributes
// CHECK: func.func private @k2(%{{.+}}: memref<64x64xbf16>, %{{.+}}: memref<64x64xbf16>, %{{.+}}: memref<64x64xbf16>) attributes
// CHECK: func.func private @k3(%{{.+}}: memref<64x64xbf16> {coda.unwritten}, %{{.+}}: memref<64x64xbf16>, %{{.+}}: memref<64x64xbf16>) attributes
func.func @main(%a: memref<64x64xbf16>, %b: memref<64x64xbf16>, %c: memref<64x64xbf16>, %d: memref<64x64xbf16>, %e: memref<64x64xbf16>, %z: memref<64x64xbf16>, %which: i1) {
  memref.copy %e, %a : memref<64x64xbf16> to memref<64x64xbf16>
  call @k1(%a, %b, %z) : (memref<64x64xbf16>, memref<64x64xbf16>, memref<64x64xbf16>) -> ()
  call @k2(%c, %c, %b) : (memref<64x64xbf16>, memref<64x64xbf16>, memref<64x64xbf16>) -> ()
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%b : memref<64x64xbf16>) outs(%c : memref<64x64xbf16>) {
  ^bb0(%i: bf16, %o: bf16):
    linalg.yield %i : bf16
  }
  %s = arith.select %which, %d, %e : memref<64x64xbf16>
  call @k3(%d, %s, %z) : (memref<64x64xbf16>, memref<64x64xbf16>, memref<64x64xbf16>) -> ()
  return
}
func.func private @k1(%a: memref<64x64xbf16>, %w: memref<64x64xbf16>, %o: memref<64x64xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x64xbf16>, memref<64x64xbf16>) outs(%o[m, n] : memref<64x64xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}
func.func private @k2(%a: memref<64x64xbf16>, %w: memref<64x64xbf16>, %o: memref<64x64xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x64xbf16>, memref<64x64xbf16>) outs(%o[m, n] : memref<64x64xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}
func.func private @k3(%a: memref<64x64xbf16>, %w: memref<64x64xbf16>, %o: memref<64x64xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x64xbf16>, memref<64x64xbf16>) outs(%o[m, n] : memref<64x64xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// A destination that cannot be traced may be anything.
// CHECK-NOT: coda.unwritten
func.func @main(%a: memref<64x64xbf16>, %b: memref<64x64xbf16>, %d: memref<64x64xbf16>, %e: memref<64x64xbf16>, %which: i1) {
  %s = arith.select %which, %d, %e : memref<64x64xbf16>
  call @k(%a, %b, %s) : (memref<64x64xbf16>, memref<64x64xbf16>, memref<64x64xbf16>) -> ()
  call @k(%a, %b, %e) : (memref<64x64xbf16>, memref<64x64xbf16>, memref<64x64xbf16>) -> ()
  return
}
func.func private @k(%a: memref<64x64xbf16>, %w: memref<64x64xbf16>, %o: memref<64x64xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x64xbf16>, memref<64x64xbf16>) outs(%o[m, n] : memref<64x64xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// The arguments of a function that others call are not the caller's.
// CHECK-NOT: coda.unwritten
func.func @main(%a: memref<64x64xbf16>, %b: memref<64x64xbf16>, %z: memref<64x64xbf16>) {
  call @inner(%a, %b, %z) : (memref<64x64xbf16>, memref<64x64xbf16>, memref<64x64xbf16>) -> ()
  return
}
func.func private @inner(%a: memref<64x64xbf16>, %b: memref<64x64xbf16>, %z: memref<64x64xbf16>) {
  call @k(%a, %b, %z) : (memref<64x64xbf16>, memref<64x64xbf16>, memref<64x64xbf16>) -> ()
  call @k(%a, %b, %z) : (memref<64x64xbf16>, memref<64x64xbf16>, memref<64x64xbf16>) -> ()
  return
}
func.func private @k(%a: memref<64x64xbf16>, %w: memref<64x64xbf16>, %o: memref<64x64xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x64xbf16>, memref<64x64xbf16>) outs(%o[m, n] : memref<64x64xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// A kernel that is an entry itself, too.
// CHECK-NOT: coda.unwritten
func.func @main(%a: memref<64x64xbf16>, %b: memref<64x64xbf16>, %z: memref<64x64xbf16>) {
  call @k(%a, %b, %z) : (memref<64x64xbf16>, memref<64x64xbf16>, memref<64x64xbf16>) -> ()
  call @k(%a, %b, %z) : (memref<64x64xbf16>, memref<64x64xbf16>, memref<64x64xbf16>) -> ()
  return
}
func.func @k(%a: memref<64x64xbf16>, %w: memref<64x64xbf16>, %o: memref<64x64xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<64x64xbf16>, memref<64x64xbf16>) outs(%o[m, n] : memref<64x64xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}
