// What an artifact for a GPU does with the driver: everything is checked before
// the first launch, errors name kernel and argument, and each device has its own
// code. The driver is a fake one.
//
// RUN: rm -rf %t && mkdir %t
// RUN: %host_cc -shared -fPIC -w -I %coda_src_root/include %S/Inputs/fake-gpu.c -o %t/libcuda.so.1
// RUN: %host_cc -w -I %coda_src_root/include %S/Inputs/gpu-calls.c -o %t/calls -ldl
// RUN: coda-compile %s --target=sm_90a -o %t/two.so
// RUN: env LD_LIBRARY_PATH=%t %t/calls %t/two.so | FileCheck %s
//
// CHECK:      before init: {{[0-9]+}}: main: the kernels are not loaded on device 0; call the artifact's init for it first
// CHECK-NEXT: retain 0
// CHECK-NEXT: push 0
// CHECK-NEXT: load on 0
// CHECK-NEXT: load on 0
// CHECK-NEXT: pop 0
// CHECK-NEXT: init of device 0: 0
// CHECK-NEXT: push 0
// CHECK-NEXT: pop 0
// CHECK-NEXT: init again: 0
// CHECK-NEXT: push 0
// CHECK-NEXT: launch [[FIRST:main_gemm_0_[0-9]+x[0-9]+x64_s[0-9]+[a-z0-9_]*]] on 0 in 0, stream 7{{$}}
// CHECK-NEXT: launch [[SECOND:main_gemm_1_[0-9]+x[0-9]+x64_s[0-9]+[a-z0-9_]*]] on 0 in 0, stream 7, overlapping{{$}}
// CHECK-NEXT: pop 0
// CHECK-NEXT: good: 0
//
// What a kernel cannot use where it is, it gets a copy of, in the workspace. The
// kernel after a copy waits for it.
// CHECK-NEXT: push 0
// CHECK-NEXT: copy 65536
// CHECK-NEXT: launch [[FIRST]] on 0 in 0, stream 7{{$}}
// CHECK-NEXT: launch [[SECOND]] on 0 in 0, stream 7, overlapping{{$}}
// CHECK-NEXT: pop 0
// CHECK-NEXT: factor off by 2 bytes: 0
// CHECK-NEXT: push 0
// CHECK-NEXT: copy 12288
// CHECK-NEXT: launch [[FIRST]]
// CHECK-NEXT: launch [[SECOND]]
// CHECK-NEXT: pop 0
// CHECK-NEXT: second factor of the second kernel off by 8 bytes: 0
// CHECK-NEXT: push 0
// CHECK-NEXT: copy 192
// CHECK-NEXT: launch [[FIRST]]
// CHECK-NEXT: launch [[SECOND]]
// CHECK-NEXT: pop 0
// CHECK-NEXT: vector off by one element: 0
// CHECK-NEXT: push 0
// CHECK-NEXT: launch [[FIRST]]
// CHECK-NEXT: launch [[SECOND]]
// CHECK-NEXT: pop 0
// CHECK-NEXT: vector off by two elements: 0
// CHECK-NEXT: push 0
// CHECK-NEXT: launch [[FIRST]]
// CHECK-NEXT: launch [[SECOND]]
// CHECK-NEXT: launch coda_strided_copy on 0 in 0, stream 7{{$}}
// CHECK-NEXT: a grid of 96 blocks, clusters of 1
// CHECK-NEXT: pop 0
// CHECK-NEXT: strided result off by 8 bytes: 0
// CHECK-NEXT: push 0
// CHECK-NEXT: launch coda_strided_copy on 0 in 0, stream 7{{$}}
// CHECK-NEXT: a grid of 24 blocks, clusters of 1
// CHECK-NEXT: copy 192
// CHECK-NEXT: launch [[FIRST]] on 0 in 0, stream 7{{$}}
// CHECK-NEXT: launch [[SECOND]]
// CHECK-NEXT: pop 0
// CHECK-NEXT: strided factor, vector off by one element: 0
//
// The second kernel loads its right factor before it waits for the first. Where
// the result may be written over that, it begins when the first has ended.
// CHECK-NEXT: push 0
// CHECK-NEXT: launch [[FIRST]]
// CHECK-NEXT: launch [[SECOND]] on 0 in 0, stream 7{{$}}
// CHECK-NEXT: pop 0
// CHECK-NEXT: result on the second factor: 0
// CHECK-NEXT: push 0
// CHECK-NEXT: launch [[FIRST]]
// CHECK-NEXT: launch [[SECOND]] on 0 in 0, stream 7{{$}}
// CHECK-NEXT: pop 0
// CHECK-NEXT: result begins in the second factor: 0
// CHECK-NEXT: push 0
// CHECK-NEXT: launch [[FIRST]]
// CHECK-NEXT: launch [[SECOND]] on 0 in 0, stream 7, overlapping{{$}}
// CHECK-NEXT: pop 0
// CHECK-NEXT: result behind the second factor: 0
// CHECK-NEXT: push 0
// CHECK-NEXT: launch [[FIRST]]
// CHECK-NEXT: launch [[SECOND]] on 0 in 0, stream 7, overlapping{{$}}
// CHECK-NEXT: pop 0
// CHECK-NEXT: result on the vector: 0
// CHECK-NEXT: factor off by one byte: 1: main: argument 0 (arg0) is not aligned to its element
// CHECK-NEXT: tensors of another device: 1: main: argument 0 (arg0) is on CUDA device 1, expected 0, the device of the call
// CHECK-NEXT: device 1 before init: {{[0-9]+}}: main: the kernels are not loaded on device 1; call the artifact's init for it first
// CHECK-NEXT: retain 1
// CHECK-NEXT: push 1
// CHECK-NEXT: load on 1
// CHECK-NEXT: load on 1
// CHECK-NEXT: pop 1
// CHECK-NEXT: init of device 1: 0
// CHECK-NEXT: push 1
// CHECK-NEXT: launch [[FIRST]] on 1 in 1, stream 7
// CHECK-NEXT: launch [[SECOND]] on 1 in 1, stream 7
// CHECK-NEXT: pop 1
// CHECK-NEXT: device 1: 0
// CHECK-NEXT: init of device 2: {{[0-9]+}}: device 2 has compute capability 8.0; the kernels are for 9.0 (sm_90a)
// CHECK-NEXT: retain 3
// CHECK-NEXT: push 3
// CHECK-NEXT: load on 3
// CHECK-NEXT: pop 3
// CHECK-NEXT: init of device 3: {{[0-9]+}}: kernel {{.+}} needs {{[0-9]+}} bytes of shared memory, a block of device 3 has at most 49152
// CHECK-NEXT: init of device 4: {{[0-9]+}}: no such device: CUDA_ERROR_FAKE
// CHECK-NEXT: init of device 99: {{[0-9]+}}: device 99 is not in 0 ... 15
//
// Ranges for profilers, where they are asked for and there is a library.
// RUN: mkdir %t/nvtx && %host_cc -shared -fPIC -w -DNVTX -I %coda_src_root/include %S/Inputs/fake-gpu.c -o %t/nvtx/libnvtx3interop.so.1
// RUN: env CODA_NVTX=1 LD_LIBRARY_PATH=%t:%t/nvtx %t/calls %t/two.so ranges | FileCheck %s --check-prefix=NVTX
// RUN: env CODA_NVTX=1 LD_LIBRARY_PATH=%t %t/calls %t/two.so ranges | FileCheck %s --check-prefix=NONE
// RUN: env CODA_NVTX=0 LD_LIBRARY_PATH=%t:%t/nvtx %t/calls %t/two.so ranges | FileCheck %s --check-prefix=NONE
// NVTX:      init: 0
// NVTX-NEXT: push 0
// NVTX-NEXT: range main {
// NVTX-NEXT: range main_gemm_0_{{.+}} {
// NVTX-NEXT: launch main_gemm_0_{{.+}} in 0
// NVTX-NEXT: }
// NVTX-NEXT: range main_gemm_1_{{.+}} {
// NVTX-NEXT: launch main_gemm_1_{{.+}} in 0
// NVTX-NEXT: }
// NVTX-NEXT: }
// NVTX-NEXT: pop 0
// NVTX-NEXT: call: 0
// NONE-NOT: range
// NONE: call: 0

func.func @main(%a: tensor<256x128xbf16>, %b: tensor<64x128xbf16>, %c: tensor<96x64xbf16>,
                %v: tensor<96xbf16>) -> tensor<256x96xbf16> {
  %y0 = tensor.empty() : tensor<256x64xbf16>
  %y = coda.gemm acc(%a[m, k] * %b[n, k] : tensor<256x128xbf16>, tensor<64x128xbf16>)
      outs(%y0[m, n] : tensor<256x64xbf16>) {
  ^bb0(%acc: f32):
    %t = arith.truncf %acc : f32 to bf16
    coda.yield %t : bf16
  }
  %z0 = tensor.empty() : tensor<256x96xbf16>
  %z = coda.gemm acc(%y[m, k] * %c[n, k] : tensor<256x64xbf16>, tensor<96x64xbf16>)
      ins(%v[n] : tensor<96xbf16>) outs(%z0[m, n] : tensor<256x96xbf16>) {
  ^bb0(%acc: f32, %w: bf16):
    %wf = arith.extf %w : bf16 to f32
    %p = arith.mulf %acc, %wf : f32
    %t = arith.truncf %p : f32 to bf16
    coda.yield %t : bf16
  }
  return %z : tensor<256x96xbf16>
}
