// RUN: coda-opt %s --coda-select-schedule --split-input-file --verify-diagnostics

// Runs of columns that no chunk is made of.

// expected-error @+1 {{no schedule for this kernel on sm_90a: the inner of several n dims is no multiple of 8}}
func.func private @runs(%a: memref<256x192xbf16>, %w: memref<8x2x20x192xbf16>, %o: memref<8x256x2x20xbf16>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n0, u, n1, k] : memref<256x192xbf16>, memref<8x2x20x192xbf16>)
      outs(%o[n0, m, u, n1] : memref<8x256x2x20xbf16>) {
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

// -----

// expected-error @+1 {{no schedule for this kernel on sm_90a: factors, loaded and stored tiles need 27 tensor maps, a kernel has at most 24}}
func.func private @many_factors(%a0: memref<256x64xbf16>, %w0: memref<128x64xbf16>, %a1: memref<256x64xbf16>, %w1: memref<128x64xbf16>, %a2: memref<256x64xbf16>, %w2: memref<128x64xbf16>, %a3: memref<256x64xbf16>, %w3: memref<128x64xbf16>, %a4: memref<256x64xbf16>, %w4: memref<128x64xbf16>, %a5: memref<256x64xbf16>, %w5: memref<128x64xbf16>, %a6: memref<256x64xbf16>, %w6: memref<128x64xbf16>, %a7: memref<256x64xbf16>, %w7: memref<128x64xbf16>, %a8: memref<256x64xbf16>, %w8: memref<128x64xbf16>, %a9: memref<256x64xbf16>, %w9: memref<128x64xbf16>, %a10: memref<256x64xbf16>, %w10: memref<128x64xbf16>, %a11: memref<256x64xbf16>, %w11: memref<128x64xbf16>, %a12: memref<256x64xbf16>, %w12: memref<128x64xbf16>, %o: memref<256x128xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a0[m, k0] * %w0[n, k0] + %a1[m, k1] * %w1[n, k1] + %a2[m, k2] * %w2[n, k2] + %a3[m, k3] * %w3[n, k3] + %a4[m, k4] * %w4[n, k4] + %a5[m, k5] * %w5[n, k5] + %a6[m, k6] * %w6[n, k6] + %a7[m, k7] * %w7[n, k7] + %a8[m, k8] * %w8[n, k8] + %a9[m, k9] * %w9[n, k9] + %a10[m, k10] * %w10[n, k10] + %a11[m, k11] * %w11[n, k11] + %a12[m, k12] * %w12[n, k12] : memref<256x64xbf16>, memref<128x64xbf16>, memref<256x64xbf16>, memref<128x64xbf16>, memref<256x64xbf16>, memref<128x64xbf16>, memref<256x64xbf16>, memref<128x64xbf16>, memref<256x64xbf16>, memref<128x64xbf16>, memref<256x64xbf16>, memref<128x64xbf16>, memref<256x64xbf16>, memref<128x64xbf16>, memref<256x64xbf16>, memref<128x64xbf16>, memref<256x64xbf16>, memref<128x64xbf16>, memref<256x64xbf16>, memref<128x64xbf16>, memref<256x64xbf16>, memref<128x64xbf16>, memref<256x64xbf16>, memref<128x64xbf16>, memref<256x64xbf16>, memref<128x64xbf16>)
      outs(%o[m, n] : memref<256x128xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{no schedule for this kernel on sm_90a: a column reduction is not f32}}
func.func private @wide_columns(%x: memref<128x64xf64>, %s: memref<64xf64>) attributes {coda.kernel} {
  coda.map ins(%x[m, n] : memref<128x64xf64>) outs(fresh add %s[n] : memref<64xf64>) {
  ^bb0(%v: f64):
    coda.yield %v : f64
  }
  return
}

// -----

// expected-error @+1 {{no schedule for this kernel on sm_90a: a reduction by logaddexp is not f32}}
func.func private @wide_logaddexp(%x: memref<128x64xf64>, %s: memref<128xf64>) attributes {coda.kernel} {
  coda.map ins(%x[m, n] : memref<128x64xf64>) outs(fresh logaddexp %s[m] : memref<128xf64>) {
  ^bb0(%v: f64):
    coda.yield %v : f64
  }
  return
}

// -----

// Of few tiles, none of which fits, it is said what does not.

// expected-error @+1 {{no schedule for this kernel on sm_90a: a row reduction over 8 columns does not fit tiles of}}
func.func private @narrow_groups(%a: memref<128x256xbf16>, %w: memref<512x256xbf16>, %o: memref<64x128xf32>) attributes {coda.kernel} {
  coda.gemm acc(%a[m, k] * %w[n, k] : memref<128x256xbf16>, memref<512x256xbf16>)
      outs(fresh add %o[n floordiv 8, m] : memref<64x128xf32>) {
  ^bb0(%x: f32):
    coda.yield %x : f32
  }
  return
}
