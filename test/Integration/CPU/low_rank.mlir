// Low-rank adapters of two products of a normalised value: h W + 2 (h A) B. The scale
// of the norm passes both products, the factor goes into h A, and what is left is one
// bundle of h A, and one of gemms with two products in an accumulator.
//
// REQUIRES: numpy
// RUN: coda-run %s --grad --against-reference --differences --seed=1 --repeat=0 | FileCheck %s
// CHECK: all outputs are good
// CHECK: all gradients are good
// RUN: coda-opt --coda-fuse-pipeline %s | FileCheck %s --check-prefix=FUSED
// FUSED-LABEL: func.func @main(
// FUSED:         call @main_map_0(
// FUSED:         call @main_bundle_1(
// FUSED:         call @main_bundle_2(
// FUSED-NOT:     call
// FUSED:         return
// FUSED:       func.func private @main_bundle_2(
// FUSED-COUNT-2: acc(%{{.+}}[m, k0] * %{{.+}}[k0, n] + %{{.+}}[m, k1] * %{{.+}}[k1, n] :
// FUSED:       func.func private @main_bundle_1(
// FUSED-COUNT-2: acc(%{{.+}}[m, k] * %{{.+}}[k, n] :
// RUN: coda-compile %s --target=sm_90a --emit=ptx -o - | FileCheck %s --check-prefix=PTX
// PTX-COUNT-3: .entry main_
// PTX-NOT:     .entry

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
#m = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<40x128xbf16>, %g: tensor<128xbf16>, %wq: tensor<128x64xbf16>, %aq: tensor<128x8xbf16>, %bq: tensor<8x64xbf16>, %wk: tensor<128x32xbf16>, %ak: tensor<128x8xbf16>, %bk: tensor<8x32xbf16>) -> (tensor<40x64xbf16>, tensor<40x32xbf16>) {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : bf16
  %n = arith.constant 128.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %e1 = tensor.empty() : tensor<40xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<40xf32>) -> tensor<40xf32>
  %ss = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<40x128xbf16>) outs(%z1 : tensor<40xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %f = arith.extf %a : bf16 to f32
    %q = arith.mulf %f, %f : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<40xf32>
  %r = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]} ins(%ss : tensor<40xf32>) outs(%e1 : tensor<40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %d = arith.divf %a, %n : f32
    %p = arith.addf %d, %eps : f32
    %q = math.rsqrt %p : f32
    linalg.yield %q : f32
  } -> tensor<40xf32>
  %eh = tensor.empty() : tensor<40x128xbf16>
  %h = linalg.generic {indexing_maps = [#id, #row, #col, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %r, %g : tensor<40x128xbf16>, tensor<40xf32>, tensor<128xbf16>) outs(%eh : tensor<40x128xbf16>) {
  ^bb0(%a: bf16, %s: f32, %w: bf16, %o: bf16):
    %f = arith.extf %a : bf16 to f32
    %p = arith.mulf %f, %s : f32
    %t = arith.truncf %p : f32 to bf16
    %q = arith.mulf %w, %t : bf16
    linalg.yield %q : bf16
  } -> tensor<40x128xbf16>
  %ehq = tensor.empty() : tensor<40x64xf32>
  %zhq = linalg.fill ins(%zero : f32) outs(%ehq : tensor<40x64xf32>) -> tensor<40x64xf32>
  %phq = linalg.matmul ins(%h, %wq : tensor<40x128xbf16>, tensor<128x64xbf16>) outs(%zhq : tensor<40x64xf32>) -> tensor<40x64xf32>
  %ohq = tensor.empty() : tensor<40x64xbf16>
  %hq = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%phq : tensor<40x64xf32>) outs(%ohq : tensor<40x64xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %t = arith.truncf %a : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<40x64xbf16>
  %etq = tensor.empty() : tensor<40x8xf32>
  %ztq = linalg.fill ins(%zero : f32) outs(%etq : tensor<40x8xf32>) -> tensor<40x8xf32>
  %ptq = linalg.matmul ins(%h, %aq : tensor<40x128xbf16>, tensor<128x8xbf16>) outs(%ztq : tensor<40x8xf32>) -> tensor<40x8xf32>
  %otq = tensor.empty() : tensor<40x8xbf16>
  %tq = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%ptq : tensor<40x8xf32>) outs(%otq : tensor<40x8xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %t = arith.truncf %a : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<40x8xbf16>
  %elq = tensor.empty() : tensor<40x64xf32>
  %zlq = linalg.fill ins(%zero : f32) outs(%elq : tensor<40x64xf32>) -> tensor<40x64xf32>
  %plq = linalg.matmul ins(%tq, %bq : tensor<40x8xbf16>, tensor<8x64xbf16>) outs(%zlq : tensor<40x64xf32>) -> tensor<40x64xf32>
  %olq = tensor.empty() : tensor<40x64xbf16>
  %lq = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%plq : tensor<40x64xf32>) outs(%olq : tensor<40x64xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %t = arith.truncf %a : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<40x64xbf16>
  %yq = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%hq, %lq : tensor<40x64xbf16>, tensor<40x64xbf16>) outs(%ohq : tensor<40x64xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %s = arith.mulf %b, %two : bf16
    %t = arith.addf %a, %s : bf16
    linalg.yield %t : bf16
  } -> tensor<40x64xbf16>
  %ehk = tensor.empty() : tensor<40x32xf32>
  %zhk = linalg.fill ins(%zero : f32) outs(%ehk : tensor<40x32xf32>) -> tensor<40x32xf32>
  %phk = linalg.matmul ins(%h, %wk : tensor<40x128xbf16>, tensor<128x32xbf16>) outs(%zhk : tensor<40x32xf32>) -> tensor<40x32xf32>
  %ohk = tensor.empty() : tensor<40x32xbf16>
  %hk = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%phk : tensor<40x32xf32>) outs(%ohk : tensor<40x32xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %t = arith.truncf %a : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<40x32xbf16>
  %etk = tensor.empty() : tensor<40x8xf32>
  %ztk = linalg.fill ins(%zero : f32) outs(%etk : tensor<40x8xf32>) -> tensor<40x8xf32>
  %ptk = linalg.matmul ins(%h, %ak : tensor<40x128xbf16>, tensor<128x8xbf16>) outs(%ztk : tensor<40x8xf32>) -> tensor<40x8xf32>
  %otk = tensor.empty() : tensor<40x8xbf16>
  %tk = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%ptk : tensor<40x8xf32>) outs(%otk : tensor<40x8xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %t = arith.truncf %a : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<40x8xbf16>
  %elk = tensor.empty() : tensor<40x32xf32>
  %zlk = linalg.fill ins(%zero : f32) outs(%elk : tensor<40x32xf32>) -> tensor<40x32xf32>
  %plk = linalg.matmul ins(%tk, %bk : tensor<40x8xbf16>, tensor<8x32xbf16>) outs(%zlk : tensor<40x32xf32>) -> tensor<40x32xf32>
  %olk = tensor.empty() : tensor<40x32xbf16>
  %lk = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%plk : tensor<40x32xf32>) outs(%olk : tensor<40x32xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %t = arith.truncf %a : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<40x32xbf16>
  %yk = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%hk, %lk : tensor<40x32xbf16>, tensor<40x32xbf16>) outs(%ohk : tensor<40x32xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %o: bf16):
    %s = arith.mulf %b, %two : bf16
    %t = arith.addf %a, %s : bf16
    linalg.yield %t : bf16
  } -> tensor<40x32xbf16>
  return %yq, %yk : tensor<40x64xbf16>, tensor<40x32xbf16>
}
