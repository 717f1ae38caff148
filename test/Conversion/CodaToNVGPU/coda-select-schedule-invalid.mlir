// RUN: coda-opt %s --coda-select-schedule --split-input-file --verify-diagnostics

// Runs of columns that no chunk is made of.

// expected-error @+1 {{no schedule for this kernel on sm_90a: the inner of several n dims is no multiple of 16, and not 8}}
func.func private @runs(%a: memref<256x192xbf16>, %w: memref<8x2x24x192xbf16>, %o: memref<8x256x2x24xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n0, u, n1, k] : memref<256x192xbf16>, memref<8x2x24x192xbf16>)
      outs(%o[n0, m, u, n1] : memref<8x256x2x24xbf16>) {
  ^bb0(%x: f32, %y: f32):
    %pn = arith.truncf %x : f32 to bf16
    %qn = arith.truncf %y : f32 to bf16
    coda.yield %pn, %qn : bf16, bf16
  }
  return
}

// -----

// expected-error @+1 {{no schedule for this kernel on sm_90a: the inner two of several n dims are no multiple of 64 columns}}
func.func private @one_head(%a: memref<256x192xbf16>, %w: memref<4x1x32x192xbf16>, %o: memref<1x4x256x32xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n0, n1, n2, k] : memref<256x192xbf16>, memref<4x1x32x192xbf16>)
      outs(%o[n1, n0, m, n2] : memref<1x4x256x32xbf16>) {
  ^bb0(%x: f32):
    %xb = arith.truncf %x : f32 to bf16
    coda.yield %xb : bf16
  }
  return
}

// -----

// expected-error @+1 {{no schedule for this kernel on sm_90a: an 8-bit factor is not contiguous along k: WGMMA transposes 16-bit ones only}}
func.func private @n_major_f8(%a: memref<256x128xf8E4M3FN>, %w: memref<128x256xf8E4M3FN>, %o: memref<256x256xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[k, n] : memref<256x128xf8E4M3FN>, memref<128x256xf8E4M3FN>)
      outs(%o[m, n] : memref<256x256xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// expected-error @+1 {{no schedule for this kernel on sm_90a: factors are not all bf16, all f16, or all f8E4M3FN and f8E5M2}}
func.func private @other_f8(%a: memref<256x128xf8E4M3FNUZ>, %w: memref<256x128xf8E4M3FNUZ>, %o: memref<256x256xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<256x128xf8E4M3FNUZ>, memref<256x128xf8E4M3FNUZ>)
      outs(%o[m, n] : memref<256x256xbf16>) {
  ^bb0(%x: f32):
    %y = arith.truncf %x : f32 to bf16
    coda.yield %y : bf16
  }
  return
}

// -----

// expected-error @+1 {{no schedule for this kernel on sm_90a: factors of 8 bits and wider ones are in one kernel}}
func.func private @widths(%a: memref<256x128xf8E4M3FN>, %w: memref<256x128xf8E4M3FN>, %c: memref<256x128xbf16>, %o: memref<256x256xbf16>, %p: memref<256x256xbf16>) attributes {coda.kernel} {
  coda.bundle {
    coda.gemm acc(%a[m, k] * %w[n, k] : memref<256x128xf8E4M3FN>, memref<256x128xf8E4M3FN>)
        outs(%o[m, n] : memref<256x256xbf16>) {
    ^bb0(%x: f32):
      %y = arith.truncf %x : f32 to bf16
      coda.yield %y : bf16
    }
    coda.gemm acc(%c[m, k] * %c[n, k] : memref<256x128xbf16>, memref<256x128xbf16>)
        outs(%p[m, n] : memref<256x256xbf16>) {
    ^bb0(%x: f32):
      %y = arith.truncf %x : f32 to bf16
      coda.yield %y : bf16
    }
    coda.yield
  }
  return
}

// -----

// expected-error @+1 {{no schedule for this kernel on sm_90a: the columns of a pair are neighbours in one of an accumulator's right factors, in another they are not}}
func.func private @pairs_of_both(%a: memref<256x128xbf16>, %b: memref<256x64xbf16>, %w: memref<128x4x64x2xbf16>, %v: memref<4x64x2x64xbf16>, %o: memref<4x256x64x2xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k0] * %w[k0, n0, n1, u] + %b[m, k1] * %v[n0, n1, u, k1] : memref<256x128xbf16>, memref<128x4x64x2xbf16>, memref<256x64xbf16>, memref<4x64x2x64xbf16>)
      outs(%o[n0, m, n1, u] : memref<4x256x64x2xf32>) {
  ^bb0(%x: f32, %y: f32):
    coda.yield %x, %y : f32, f32
  }
  return
}
