// Line tables where several kernels come from one line: a function that is
// called twice, a number of rows that is known at launch only (a kernel for few
// rows, another for many), and a gradient. Ops of the host code are inlined, too.
//
// RUN: coda-compile %s --target=sm_90a --line-info --emit=ptx -o - | FileCheck %s --implicit-check-not=.entry
// RUN: coda-compile %s --target=sm_90a --grad --line-info --emit=ptx -o - | FileCheck %s --check-prefix=GRAD
// RUN: coda-compile %s --target=sm_90a --line-info --emit=llvm -o - | FileCheck %s --check-prefix=HOST
// RUN: %if ptxas %{ coda-compile %s --target=sm_90a --grad --line-info --emit=cubin -o %t.cubin && grep -c debug_line %t.cubin %}
//
// CHECK: .entry main_gemm_0_{{[0-9]}}
// CHECK: .loc [[FILE:[0-9]+]] [[#@LINE+35]]
// CHECK: wgmma.mma_async
// CHECK: .loc [[FILE]] [[#@LINE+34]]
// CHECK: ex2.approx
// CHECK: .entry main_gemm_0_few_
// CHECK: .loc [[FILE]] [[#@LINE+30]]
// CHECK: wgmma.mma_async
// CHECK: .loc [[FILE]] [[#@LINE+29]]
// CHECK: ex2.approx
// CHECK: .file [[FILE]] "{{.*}}line-info-inlined.mlir"
//
// GRAD: .entry main_gemm_0_{{[0-9]}}
// GRAD: .loc [[FILE:[0-9]+]] [[#@LINE+23]]
// GRAD: .entry main_gemm_0_few_
// GRAD: .loc [[FILE]] [[#@LINE+21]]
// GRAD: .entry main_bwd_gemm_2_{{[0-9]}}
// GRAD: .loc [[FILE]] [[#@LINE+19]]
// GRAD: wgmma.mma_async
// GRAD: .loc [[FILE]] [[#@LINE+18]]
// GRAD: .entry main_bwd_gemm_2_few_
// GRAD: .loc [[FILE]] [[#@LINE+15]]
// GRAD: wgmma.mma_async
// GRAD: .loc [[FILE]] [[#@LINE+14]]
// GRAD: .entry main_bwd_map_1_
// GRAD: .loc [[FILE]] [[#@LINE+12]]
// GRAD: .file [[FILE]] "{{.*}}line-info-inlined.mlir"
//
// HOST: define {{.*}}@coda_main(

func.func private @layer(%x: tensor<?x256xbf16>, %w: tensor<256x256xbf16>) -> tensor<?x256xbf16> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %empty = tensor.empty(%rows) : tensor<?x256xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x256xf32>) -> tensor<?x256xf32>
  %acc = linalg.matmul ins(%x, %w : tensor<?x256xbf16>, tensor<256x256xbf16>) outs(%init : tensor<?x256xf32>) -> tensor<?x256xf32>
  %exp = math.exp %acc : tensor<?x256xf32>
  %y = arith.truncf %exp : tensor<?x256xf32> to tensor<?x256xbf16>
  return %y : tensor<?x256xbf16>
}

func.func @main(%x: tensor<?x256xbf16>, %w: tensor<256x256xbf16>, %v: tensor<256x256xbf16>) -> tensor<?x256xbf16> {
  %a = call @layer(%x, %w) : (tensor<?x256xbf16>, tensor<256x256xbf16>) -> tensor<?x256xbf16>
  %b = call @layer(%a, %v) : (tensor<?x256xbf16>, tensor<256x256xbf16>) -> tensor<?x256xbf16>
  return %b : tensor<?x256xbf16>
}

// What is said of the gradient of a weight names the product that it belongs to.
// RUN: coda-compile %s --target=sm_90a --grad --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: line-info-inlined.mlir:[[#@LINE-14]]:10: [coda-gpu-decompose-unscheduled] two versions of 'main_bwd_gemm_
