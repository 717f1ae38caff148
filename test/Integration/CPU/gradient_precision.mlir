// Gradients of f32 arguments of programs whose products have 16-bit factors: the
// accumulators that such a gradient is a sum of are saved in f32, so that the fused
// program's gradient is as good as that of the source: off by less than 1e-5, where
// an accumulator saved in 16 bits makes it 1e-4 and more.
//
// REQUIRES: numpy
// RUN: coda-run %s --entry=columns --grad --grad-constants=0,1,3 --against-reference --seed=1 --repeat=0 | FileCheck %s
// RUN: coda-run %s --entry=columns --grad --grad-constants=0,1,3 --against-reference --numerics=strict --seed=1 --repeat=0 | FileCheck %s
// RUN: coda-run %s --entry=rows --grad --grad-constants=0,1 --against-reference --seed=1 --repeat=0 | FileCheck %s
// RUN: coda-run %s --entry=rows --grad --grad-constants=0,1 --against-reference --numerics=strict --seed=1 --repeat=0 | FileCheck %s
// RUN: coda-run %s --entry=number --grad --grad-constants=0,1,3 --against-reference --seed=1 --repeat=0 | FileCheck %s
// RUN: coda-run %s --entry=angles --grad --grad-constants=0,1 --against-reference --seed=1 --repeat=0 | FileCheck %s
// RUN: coda-run %s --entry=rounded --grad --grad-constants=0,1 --against-reference --seed=1 --repeat=0 | FileCheck %s
// CHECK: out1 {{.*}}:f32 {{ *[0-9.e+-]+ +[0-9.]+e-0[6-9] }}
// CHECK: all outputs are good

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
#none = affine_map<(d0, d1) -> ()>

func.func @columns(%x: tensor<256x256xbf16>, %w: tensor<256x512xbf16>, %s: tensor<512xf32>, %res: tensor<256x512xbf16>) -> tensor<256x512xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x512xf32>) -> tensor<256x512xf32>
  %p = linalg.matmul ins(%x, %w : tensor<256x256xbf16>, tensor<256x512xbf16>) outs(%f : tensor<256x512xf32>) -> tensor<256x512xf32>
  %o = tensor.empty() : tensor<256x512xbf16>
  %r = linalg.generic {indexing_maps = [#id, #col, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %s, %res : tensor<256x512xf32>, tensor<512xf32>, tensor<256x512xbf16>) outs(%o : tensor<256x512xbf16>) {
  ^bb0(%a: f32, %q: f32, %rr: bf16, %out: bf16):
    %1 = arith.mulf %a, %q : f32
    %2 = arith.extf %rr : bf16 to f32
    %3 = arith.addf %1, %2 : f32
    %4 = arith.truncf %3 : f32 to bf16
    linalg.yield %4 : bf16
  } -> tensor<256x512xbf16>
  return %r : tensor<256x512xbf16>
}

func.func @rows(%x: tensor<256x256xbf16>, %w: tensor<256x512xbf16>, %s: tensor<256xf32>) -> tensor<256x512xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x512xf32>) -> tensor<256x512xf32>
  %p = linalg.matmul ins(%x, %w : tensor<256x256xbf16>, tensor<256x512xbf16>) outs(%f : tensor<256x512xf32>) -> tensor<256x512xf32>
  %o = tensor.empty() : tensor<256x512xbf16>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %s : tensor<256x512xf32>, tensor<256xf32>) outs(%o : tensor<256x512xbf16>) {
  ^bb0(%a: f32, %q: f32, %out: bf16):
    %1 = arith.mulf %a, %q : f32
    %3 = math.tanh %1 : f32
    %4 = arith.truncf %3 : f32 to bf16
    linalg.yield %4 : bf16
  } -> tensor<256x512xbf16>
  return %r : tensor<256x512xbf16>
}

func.func @number(%x: tensor<256x256xbf16>, %w: tensor<256x512xbf16>, %s: tensor<f32>, %res: tensor<256x512xbf16>) -> tensor<256x512xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<256x512xf32>) -> tensor<256x512xf32>
  %p = linalg.matmul ins(%x, %w : tensor<256x256xbf16>, tensor<256x512xbf16>) outs(%f : tensor<256x512xf32>) -> tensor<256x512xf32>
  %o = tensor.empty() : tensor<256x512xbf16>
  %r = linalg.generic {indexing_maps = [#id, #none, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %s, %res : tensor<256x512xf32>, tensor<f32>, tensor<256x512xbf16>) outs(%o : tensor<256x512xbf16>) {
  ^bb0(%a: f32, %q: f32, %rr: bf16, %out: bf16):
    %1 = arith.mulf %a, %q : f32
    %2 = arith.extf %rr : bf16 to f32
    %3 = arith.addf %1, %2 : f32
    %4 = arith.truncf %3 : f32 to bf16
    linalg.yield %4 : bf16
  } -> tensor<256x512xbf16>
  return %r : tensor<256x512xbf16>
}

func.func @angles(%h: tensor<20x32xbf16>, %w: tensor<24x32xbf16>, %pos: tensor<20xi64>, %freq: tensor<4xf32>) -> tensor<20x3x8xbf16> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20x24xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<20x24xf32>) -> tensor<20x24xf32>
  %wt0 = tensor.empty() : tensor<32x24xbf16>
  %wt = linalg.transpose ins(%w : tensor<24x32xbf16>) outs(%wt0 : tensor<32x24xbf16>) permutation = [1, 0]
  %q = linalg.matmul ins(%h, %wt : tensor<20x32xbf16>, tensor<32x24xbf16>) outs(%f : tensor<20x24xf32>) -> tensor<20x24xf32>
  %qh = tensor.expand_shape %q [[0], [1, 2]] output_shape [20, 3, 8] : tensor<20x24xf32> into tensor<20x3x8xf32>
  %a0 = tensor.empty() : tensor<20x4xf32>
  %ang = linalg.generic {indexing_maps = [affine_map<(d0,d1)->(d0)>, affine_map<(d0,d1)->(d1)>, affine_map<(d0,d1)->(d0,d1)>], iterator_types = ["parallel","parallel"]} ins(%pos, %freq : tensor<20xi64>, tensor<4xf32>) outs(%a0 : tensor<20x4xf32>) {
  ^bb0(%p: i64, %fr: f32, %o: f32):
    %pf = arith.sitofp %p : i64 to f32
    %x = arith.mulf %pf, %fr : f32
    linalg.yield %x : f32
  } -> tensor<20x4xf32>
  %emb = tensor.concat dim(1) %ang, %ang : (tensor<20x4xf32>, tensor<20x4xf32>) -> tensor<20x8xf32>
  %c0 = tensor.empty() : tensor<20x8xf32>
  %cos = linalg.generic {indexing_maps = [affine_map<(d0,d1)->(d0,d1)>, affine_map<(d0,d1)->(d0,d1)>], iterator_types = ["parallel","parallel"]} ins(%emb : tensor<20x8xf32>) outs(%c0 : tensor<20x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %x = math.cos %p : f32
    linalg.yield %x : f32
  } -> tensor<20x8xf32>
  %sin = linalg.generic {indexing_maps = [affine_map<(d0,d1)->(d0,d1)>, affine_map<(d0,d1)->(d0,d1)>], iterator_types = ["parallel","parallel"]} ins(%emb : tensor<20x8xf32>) outs(%c0 : tensor<20x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %x = math.sin %p : f32
    linalg.yield %x : f32
  } -> tensor<20x8xf32>
  %lo = tensor.extract_slice %qh[0,0,0][20,3,4][1,1,1] : tensor<20x3x8xf32> to tensor<20x3x4xf32>
  %hi = tensor.extract_slice %qh[0,0,4][20,3,4][1,1,1] : tensor<20x3x8xf32> to tensor<20x3x4xf32>
  %n0 = tensor.empty() : tensor<20x3x4xf32>
  %nh = linalg.generic {indexing_maps = [affine_map<(d0,d1,d2)->(d0,d1,d2)>, affine_map<(d0,d1,d2)->(d0,d1,d2)>], iterator_types = ["parallel","parallel","parallel"]} ins(%hi : tensor<20x3x4xf32>) outs(%n0 : tensor<20x3x4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %x = arith.negf %p : f32
    linalg.yield %x : f32
  } -> tensor<20x3x4xf32>
  %rot = tensor.concat dim(2) %nh, %lo : (tensor<20x3x4xf32>, tensor<20x3x4xf32>) -> tensor<20x3x8xf32>
  %r0 = tensor.empty() : tensor<20x3x8xbf16>
  %out = linalg.generic {indexing_maps = [affine_map<(d0,d1,d2)->(d0,d1,d2)>, affine_map<(d0,d1,d2)->(d0,d1,d2)>, affine_map<(d0,d1,d2)->(d0,d2)>, affine_map<(d0,d1,d2)->(d0,d2)>, affine_map<(d0,d1,d2)->(d0,d1,d2)>], iterator_types = ["parallel","parallel","parallel"]} ins(%qh, %rot, %cos, %sin : tensor<20x3x8xf32>, tensor<20x3x8xf32>, tensor<20x8xf32>, tensor<20x8xf32>) outs(%r0 : tensor<20x3x8xbf16>) {
  ^bb0(%x: f32, %y: f32, %c: f32, %s: f32, %o: bf16):
    %xc = arith.mulf %x, %c : f32
    %ys = arith.mulf %y, %s : f32
    %r = arith.addf %xc, %ys : f32
    %rb = arith.truncf %r : f32 to bf16
    linalg.yield %rb : bf16
  } -> tensor<20x3x8xbf16>
  return %out : tensor<20x3x8xbf16>
}

// The product is rounded before it is scaled.
func.func @rounded(%a0: tensor<96x128xbf16>, %a1: tensor<128x128xbf16>, %a2: tensor<128xf32>) -> (tensor<96x128xbf16>) {
  %v1 = tensor.empty() : tensor<96x128xf32>
  %v2 = arith.constant 0.0 : f32
  %v3 = linalg.fill ins(%v2 : f32) outs(%v1 : tensor<96x128xf32>) -> tensor<96x128xf32>
  %v4 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a0, %a1 : tensor<96x128xbf16>, tensor<128x128xbf16>) outs(%v3 : tensor<96x128xf32>) {
  ^bb0(%i0: bf16, %i1: bf16, %o: f32):
    %e0 = arith.extf %i0 : bf16 to f32
    %e1 = arith.extf %i1 : bf16 to f32
    %m = arith.mulf %e0, %e1 : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<96x128xf32>
  %v5 = tensor.empty() : tensor<96x128xbf16>
  %v6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v4 : tensor<96x128xf32>) outs(%v5 : tensor<96x128xbf16>) {
  ^bb0(%i0: f32, %o: bf16):
    %y = arith.truncf %i0 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<96x128xbf16>
  %v7 = tensor.empty() : tensor<96x128xbf16>
  %v8 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%v6, %a2, %a0 : tensor<96x128xbf16>, tensor<128xf32>, tensor<96x128xbf16>) outs(%v7 : tensor<96x128xbf16>) {
  ^bb0(%i0: bf16, %i1: f32, %i2: bf16, %o: bf16):
    %x0 = arith.extf %i0 : bf16 to f32
    %x2 = arith.extf %i2 : bf16 to f32
    %t1 = arith.mulf %x0, %i1 : f32
    %t2 = arith.addf %t1, %x2 : f32
    %y = arith.truncf %t2 : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<96x128xbf16>
  return %v8 : tensor<96x128xbf16>
}
