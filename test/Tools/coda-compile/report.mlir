// The report in both forms: what was fused, from which lines, what was not and
// why, how much workspace it takes.
// RUN: coda-compile %s -o %t.so --report=%t.json
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t.json
// RUN: coda-compile %s -o %t.so --report=%t.html
// RUN: FileCheck %s --check-prefix=HTML --input-file=%t.html
// RUN: not coda-compile %s -o %t.so --report=%t.txt 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: rm -f %t.new.so
// RUN: not coda-compile %s -o %t.new.so --report=%t.none/report.json 2>&1 | FileCheck %s --check-prefix=NOWHERE
// RUN: not ls %t.new.so
// NOWHERE: error: cannot write '{{.*}}.none/report.json': No such file or directory

// JSON:      "functions": [
// JSON:        "launches": [
// JSON-NEXT:     "[[GEMM:.+]]"
// JSON-NEXT:   ],
// JSON-NEXT:   "loops": [],
// JSON-NEXT:   "name": "main",
// JSON-NEXT:   "unfused": [
// JSON-NEXT:     "linalg.fill"
// JSON:        "unscheduled": [],
// JSON-NEXT:   "workspace": "{{[0-9]+}} bytes"
// JSON:      "input": "{{.*}}report.mlir"
// JSON:      "kernels": [
// JSON:        "accumulators": [
// JSON-NEXT:     "tensor<8x4xf32>[m, k] * tensor<6x4xf32>[n, k]"
// JSON:        "body": [
// JSON:          "count": 1,
// JSON-NEXT:     "op": "arith.maximumf"
// JSON:        "stores": [
// JSON-NEXT:     "tensor<8x6xf32>[m, n]"
// JSON:        "name": "[[GEMM]]"
// JSON:        "sources": [
// JSON:          "location": "{{.*}}report.mlir:{{[0-9]+}}:8"
// JSON-NEXT:     "source": "%k = linalg.generic
// JSON:          "source": "%g = linalg.generic
// JSON:        "unscheduled": null
// JSON:      "remarks": [
// JSON:        "location": "{{.*}}report.mlir:{{[0-9]+}}:8"
// JSON-NEXT:   "message": "[coda-raise] not raised to rms_norm: reduction-not-whole: the mean square covers 2 of 4 elements"
// JSON-NEXT:   "notes": [
// JSON:        ],
// JSON-NEXT:   "source": "%h = linalg.generic

// A page that needs nothing but itself; what comes from the source is escaped.
// HTML:      <!DOCTYPE html>
// HTML-NOT:  <script
// HTML-NOT:  http
// HTML:      <code>@main</code>
// HTML-SAME: {{[0-9]+}} bytes
// HTML:      <code>tensor&lt;8x4xf32&gt;[m, k] * tensor&lt;6x4xf32&gt;[n, k]</code>
// HTML:      report.mlir:{{[0-9]+}}:8</span> <code>%g = linalg.generic {indexing_maps = [affine_map&lt;(d0, d1, d2) -&gt; (d0, d2)&gt;
// HTML:      <td><code>coda-raise</code></td><td>not raised to rms_norm</td><td><code>reduction-not-whole</code></td><td>the mean square covers 2 of 4 elements</td>

// BAD: error: --report={{.*}}.txt: a report is written as .json or .html
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @main(%x: tensor<8x4xf32>, %w: tensor<6x4xf32>) -> (tensor<8x6xf32>, tensor<8x4xf32>) {
  %z = arith.constant 0.0 : f32
  %n = arith.constant 2.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %half = tensor.extract_slice %x[0, 0] [8, 2] [1, 1] : tensor<8x4xf32> to tensor<8x2xf32>
  %e0 = tensor.empty() : tensor<8xf32>
  %f0 = linalg.fill ins(%z : f32) outs(%e0 : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%half : tensor<8x2xf32>) outs(%f0 : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.mulf %a, %a : f32
    %q = arith.addf %p, %o : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  %h0 = tensor.empty() : tensor<8x4xf32>
  %h = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<8x4xf32>, tensor<8xf32>) outs(%h0 : tensor<8x4xf32>) {
  ^bb0(%a: f32, %t: f32, %o: f32):
    %m = arith.divf %t, %n : f32
    %v = arith.addf %m, %eps : f32
    %r = math.rsqrt %v : f32
    %y = arith.mulf %a, %r : f32
    linalg.yield %y : f32
  } -> tensor<8x4xf32>
  %c = tensor.empty() : tensor<8x6xf32>
  %f = linalg.fill ins(%z : f32) outs(%c : tensor<8x6xf32>) -> tensor<8x6xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%h, %w : tensor<8x4xf32>, tensor<6x4xf32>) outs(%f : tensor<8x6xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<8x6xf32>
  %k = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%g : tensor<8x6xf32>) outs(%c : tensor<8x6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.maximumf %a, %z : f32
    linalg.yield %m : f32
  } -> tensor<8x6xf32>
  return %k, %h : tensor<8x6xf32>, tensor<8x4xf32>
}
