// Line tables from instructions of a kernel to lines of the input, on request.
//
// RUN: coda-compile %s --target=sm_90a --line-info --emit=ptx -o - | FileCheck %s
// RUN: coda-compile %s --target=sm_90a --emit=ptx -o - | FileCheck %s --check-prefix=NONE
// RUN: %if ptxas %{ coda-compile %s --target=sm_90a --line-info --emit=cubin -o %t.cubin && grep -c debug_line %t.cubin %}
// RUN: %if ptxas %{ coda-compile %s --target=sm_90a --emit=cubin -o %t.cubin && not grep -q debug_line %t.cubin %}
// RUN: not coda-compile %s --line-info -o %t.so 2>&1 | FileCheck %s --check-prefix=CPU
//
// CHECK: .entry main_gemm_0_
// CHECK: .loc [[FILE:[0-9]+]] [[#@LINE+14]]
// CHECK: ex2.approx
// CHECK: .loc [[FILE]] [[#@LINE+13]]
// CHECK: rsqrt.approx
// CHECK: .file [[FILE]] "{{.*}}line-info.mlir"
// NONE-NOT:  .loc
// NONE-NOT:  .file
// CPU: error: the target 'cpu' has no line tables; --line-info is for --target=sm_90a

func.func @main(%a: tensor<256x128xbf16>, %b: tensor<64x128xbf16>) -> tensor<256x64xbf16> {
  %y0 = tensor.empty() : tensor<256x64xbf16>
  %y = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<256x128xbf16>, tensor<64x128xbf16>)
      outs(%y0[m, n] : tensor<256x64xbf16>) {
  ^bb0(%acc: f32):
    %e = math.exp %acc : f32
    %r = math.rsqrt %e : f32
    %t = arith.truncf %r : f32 to bf16
    coda.yield %t : bf16
  }
  return %y : tensor<256x64xbf16>
}
