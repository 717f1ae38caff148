// The two versions of a kernel, for few rows and for any number, one of them a
// bundle: they write to the same buffers, of the workspace or of the caller.
//
// RUN: coda-compile %s --target=sm_90a --emit=scheduled -o - | FileCheck %s
//
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<?x256xbf16>, %[[U:[a-z0-9]+]]: memref<256x256xbf16>, %[[V:[a-z0-9]+]]: memref<256x128xbf16>, %[[W:[a-z0-9]+]]: memref<256x64xbf16>, %[[O:[a-z0-9]+]]: memref<?x128xbf16>, %[[P:[a-z0-9]+]]: memref<?x64xbf16>, %[[WORKSPACE:[a-z0-9]+]]: memref<?xi8>)
// CHECK-DAG: %[[C0:.+]] = arith.constant 0 : index
// CHECK-DAG: %[[C64:.+]] = arith.constant 64 : index
// CHECK-DAG: %[[ROWS:.+]] = memref.dim %[[X]], %[[C0]]
// CHECK-DAG: %[[FEW:.+]] = arith.cmpi ule, %[[ROWS]], %[[C64]] : index
// CHECK-DAG: %[[H:.+]] = memref.view %[[WORKSPACE]][%[[C0]]][%[[ROWS]]] : memref<?xi8> to memref<?x256xbf16>
// CHECK: scf.if %[[FEW]] {
// CHECK-NEXT: call @main_gemm_0_few(%[[X]], %[[U]], %[[H]])
// CHECK-NEXT: call @main_bundle_1_few(%[[H]], %[[V]], %[[O]], %[[W]], %[[P]])
// CHECK-NEXT: } else {
// CHECK-NEXT: call @main_gemm_0(%[[X]], %[[U]], %[[H]])
// CHECK-NEXT: call @main_bundle_1(%[[H]], %[[V]], %[[O]], %[[W]], %[[P]])
// CHECK-NEXT: }
// CHECK-NEXT: return
//
// CHECK-LABEL: func.func private @main_bundle_1_few(
// CHECK-SAME: coda.max_rows = 64 : i64
// CHECK: schedule = #coda_gpu.schedule<tile = [64,

func.func @main(%x: tensor<?x256xbf16>, %u: tensor<256x256xbf16>, %v: tensor<256x128xbf16>, %w: tensor<256x64xbf16>) -> (tensor<?x128xbf16>, tensor<?x64xbf16>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x256xbf16>
  %e0 = tensor.empty(%rows) : tensor<?x256xf32>
  %i0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?x256xf32>) -> tensor<?x256xf32>
  %a0 = linalg.matmul ins(%x, %u : tensor<?x256xbf16>, tensor<256x256xbf16>) outs(%i0 : tensor<?x256xf32>) -> tensor<?x256xf32>
  %t = math.tanh %a0 : tensor<?x256xf32>
  %h = arith.truncf %t : tensor<?x256xf32> to tensor<?x256xbf16>
  %e1 = tensor.empty(%rows) : tensor<?x128xf32>
  %i1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x128xf32>) -> tensor<?x128xf32>
  %a1 = linalg.matmul ins(%h, %v : tensor<?x256xbf16>, tensor<256x128xbf16>) outs(%i1 : tensor<?x128xf32>) -> tensor<?x128xf32>
  %y1 = arith.truncf %a1 : tensor<?x128xf32> to tensor<?x128xbf16>
  %e2 = tensor.empty(%rows) : tensor<?x64xf32>
  %i2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %a2 = linalg.matmul ins(%h, %w : tensor<?x256xbf16>, tensor<256x64xbf16>) outs(%i2 : tensor<?x64xf32>) -> tensor<?x64xf32>
  %y2 = arith.truncf %a2 : tensor<?x64xf32> to tensor<?x64xbf16>
  return %y1, %y2 : tensor<?x128xbf16>, tensor<?x64xbf16>
}
