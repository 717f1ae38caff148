// What a device would run as loops is maps there, though no product is before it: a
// layer norm of an argument, and weights in f32 that are cast. A CPU, whose loops are
// as fast, keeps them.

// RUN: split-file %s %t
// RUN: coda-compile %t/norm.mlir --target=sm_90a --emit=scheduled -o %t.norm 2> %t.err
// RUN: FileCheck %s --check-prefix=NORM --input-file=%t.norm
// RUN: FileCheck %s --allow-empty --check-prefix=NONE --input-file=%t.err
// RUN: coda-compile %t/norm.mlir --emit=fused -o - | FileCheck %s --check-prefix=CPU
// RUN: coda-opt --coda-fuse-pipeline=all-maps %t/norm.mlir | FileCheck %s --check-prefix=FUSED
// RUN: coda-run %t/norm.mlir --seed=1 --against-reference --repeat=0 | FileCheck %s --check-prefix=GOOD
// RUN: coda-compile %t/cast.mlir --target=sm_90a --emit=scheduled -o %t.cast 2> %t.err
// RUN: FileCheck %s --check-prefix=CAST --input-file=%t.cast
// RUN: FileCheck %s --allow-empty --check-prefix=NONE --input-file=%t.err
// RUN: coda-compile %graphs/llama3_block_autocast.mlir --target=sm_90a --emit=scheduled -o %t.block 2> %t.err
// RUN: FileCheck %s --check-prefix=BLOCK --input-file=%t.block
// RUN: FileCheck %s --allow-empty --check-prefix=NONE --input-file=%t.err

// RUN: coda-compile %graphs/neg_layernorm_f32.mlir --target=sm_90a --emit=nvgpu -o - 2> %t.err | FileCheck %s --check-prefix=WIDE
// RUN: FileCheck %s --check-prefix=WIDE-ERR --input-file=%t.err

// NONE-NOT: {{.}}

// The mean, the variance, the norm, the product.
// NORM-LABEL: func.func @main(
// NORM-NOT:     linalg.
// NORM:         call @main_map_0
// NORM-NOT:     linalg.
// NORM:         call @main_map_1
// NORM-NOT:     linalg.
// NORM:         call @main_map_2
// NORM-NOT:     linalg.
// NORM:         call @main_gemm_3
// NORM-NOT:     linalg.
// NORM:         return
// NORM-COUNT-4: coda.schedule = #coda_gpu.schedule
// CPU-LABEL:  func.func @main(
// CPU:          linalg.generic
// CPU:          call @main_gemm_0
// CPU-NOT:      call

// FUSED-LABEL: func.func @main(
// FUSED-SAME:    %[[X:[a-z0-9]+]]: tensor<256x512xbf16>, %[[G:[a-z0-9]+]]: tensor<512xbf16>, %[[W:[a-z0-9]+]]: tensor<1024x512xbf16>
// FUSED:         %[[XV:.*]] = tensor.expand_shape %[[X]]
// FUSED:         %[[SUM:.*]] = call @main_map_0(%[[XV]],
// FUSED:         %[[SQUARES:.*]] = call @main_map_1(%[[XV]], %[[SUM]],
// FUSED:         %[[H:.*]] = call @main_map_2(%[[X]], %[[SQUARES]], %[[SUM]], %[[G]],
// FUSED:         call @main_gemm_3(%[[H]], %[[W]],

// GOOD: all outputs are good

// Both weights in one launch, the norm's map, and the products.
// CAST-LABEL: func.func @main(
// CAST-NOT:     linalg.
// CAST:         call @main_bundle_0
// CAST-NOT:     linalg.
// CAST:         call @main_gemm_1
// CAST-NOT:     call
// CAST:         return

// BLOCK-LABEL: func.func @main(
// BLOCK-NOT:     linalg.
// BLOCK-COUNT-8: call @main_
// BLOCK-NOT:     {{linalg\.|call @}}
// BLOCK:         return

// Statistics in f64 are kernels, too, and only the product of factors of f32 is loops.
// Parts of a row's sum are stored in f64, and the map that reads them adds them in f64,
// lanes giving each other the words of a value.
// WIDE-ERR-NOT: _map_
// WIDE-ERR:     'main_gemm_3' is not one kernel: unfused-on-device: no schedule on sm_90a: factors are not all bf16, all f16, or all f8E4M3FN and f8E5M2
// WIDE-ERR-NOT: _map_
// WIDE:      %[[V:.+]] = arith.select %{{.+}}, %{{.+}}, %{{.+}} : f64
// WIDE-NEXT: %[[BITS:.+]] = llvm.bitcast %[[V]] : f64 to vector<2xi32>
// WIDE-NEXT: %[[LOW:.+]] = llvm.extractelement %[[BITS]][%c0_i32 : i32]
// WIDE-NEXT: %[[GOT:.+]] = nvvm.shfl.sync bfly %{{.+}}, %[[LOW]], %c1_i32, %{{.+}} : i32 -> i32
// WIDE-NEXT: %[[HALF:.+]] = llvm.insertelement %[[GOT]], %[[BITS]][%c0_i32 : i32]
// WIDE-NEXT: %[[HIGH:.+]] = llvm.extractelement %[[HALF]][%c1_i32 : i32]
// WIDE-NEXT: %[[REST:.+]] = nvvm.shfl.sync bfly %{{.+}}, %[[HIGH]], %c1_i32, %{{.+}} : i32 -> i32
// WIDE-NEXT: %[[BOTH:.+]] = llvm.insertelement %[[REST]], %[[HALF]][%c1_i32 : i32]
// WIDE-NEXT: %[[OTHER:.+]] = llvm.bitcast %[[BOTH]] : vector<2xi32> to f64
// WIDE-NEXT: arith.addf %[[V]], %[[OTHER]] : f64
// WIDE:      gpu.func @main_map_0_
// WIDE:      llvm.store %{{.+}}, %{{.+}} : f64, !llvm.ptr<1>

//--- norm.mlir
#full = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (m)>
#column = affine_map<(m, n) -> (n)>
func.func @main(%x: tensor<256x512xbf16>, %g: tensor<512xbf16>, %w: tensor<1024x512xbf16>) -> tensor<256x1024xbf16> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 512.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %er = tensor.empty() : tensor<256xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<256xf32>) -> tensor<256xf32>
  %s = linalg.generic {indexing_maps = [#full, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<256x512xbf16>) outs(%zr : tensor<256xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.addf %0, %o : f32
    linalg.yield %1 : f32
  } -> tensor<256xf32>
  %v = linalg.generic {indexing_maps = [#full, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %s : tensor<256x512xbf16>, tensor<256xf32>) outs(%zr : tensor<256xf32>) {
  ^bb0(%a: bf16, %b: f32, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    %m = arith.divf %b, %n : f32
    %d = arith.subf %0, %m : f32
    %q = arith.mulf %d, %d : f32
    %1 = arith.addf %q, %o : f32
    linalg.yield %1 : f32
  } -> tensor<256xf32>
  %eh = tensor.empty() : tensor<256x512xbf16>
  %h = linalg.generic {indexing_maps = [#full, #row, #row, #column, #full], iterator_types = ["parallel", "parallel"]} ins(%x, %v, %s, %g : tensor<256x512xbf16>, tensor<256xf32>, tensor<256xf32>, tensor<512xbf16>) outs(%eh : tensor<256x512xbf16>) {
  ^bb0(%a: bf16, %b: f32, %c: f32, %e: bf16, %o: bf16):
    %0 = arith.extf %a : bf16 to f32
    %m = arith.divf %c, %n : f32
    %d = arith.subf %0, %m : f32
    %p = arith.divf %b, %n : f32
    %q = arith.addf %p, %eps : f32
    %r = math.rsqrt %q : f32
    %f = arith.mulf %d, %r : f32
    %k = arith.extf %e : bf16 to f32
    %y = arith.mulf %f, %k : f32
    %t = arith.truncf %y : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<256x512xbf16>
  %ey = tensor.empty() : tensor<256x1024xf32>
  %zy = linalg.fill ins(%zero : f32) outs(%ey : tensor<256x1024xf32>) -> tensor<256x1024xf32>
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%h, %w : tensor<256x512xbf16>, tensor<1024x512xbf16>) outs(%zy : tensor<256x1024xf32>) -> tensor<256x1024xf32>
  %eo = tensor.empty() : tensor<256x1024xbf16>
  %out = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<256x1024xf32>) outs(%eo : tensor<256x1024xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %0 = arith.truncf %a : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<256x1024xbf16>
  return %out : tensor<256x1024xbf16>
}

//--- cast.mlir
#full = affine_map<(m, n) -> (m, n)>
func.func @main(%x: tensor<256x512xbf16>, %w: tensor<1024x512xf32>, %v: tensor<1024x512xf32>) -> tensor<256x1024xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x512xbf16>
  %wn = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<1024x512xf32>) outs(%e : tensor<1024x512xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %0 = arith.truncf %a : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<1024x512xbf16>
  %vn = linalg.generic {indexing_maps = [#full, #full], iterator_types = ["parallel", "parallel"]} ins(%v : tensor<1024x512xf32>) outs(%e : tensor<1024x512xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %0 = arith.truncf %a : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<1024x512xbf16>
  %ey = tensor.empty() : tensor<256x1024xf32>
  %zy = linalg.fill ins(%zero : f32) outs(%ey : tensor<256x1024xf32>) -> tensor<256x1024xf32>
  %y = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %wn : tensor<256x512xbf16>, tensor<1024x512xbf16>) outs(%zy : tensor<256x1024xf32>) -> tensor<256x1024xf32>
  %z = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] ins(%x, %vn : tensor<256x512xbf16>, tensor<1024x512xbf16>) outs(%zy : tensor<256x1024xf32>) -> tensor<256x1024xf32>
  %eo = tensor.empty() : tensor<256x1024xbf16>
  %out = linalg.generic {indexing_maps = [#full, #full, #full], iterator_types = ["parallel", "parallel"]} ins(%y, %z : tensor<256x1024xf32>, tensor<256x1024xf32>) outs(%eo : tensor<256x1024xbf16>) {
  ^bb0(%a: f32, %b: f32, %o: bf16):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.truncf %0 : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<256x1024xbf16>
  return %out : tensor<256x1024xbf16>
}
