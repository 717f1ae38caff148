// RUN: coda-opt %s --coda-gpu-launch-loops --canonicalize --cse --split-input-file | FileCheck %s

// An elementwise op: a thread takes points in steps of the grid.
// CHECK-LABEL: func.func @elementwise
// CHECK-SAME: %[[A:.+]]: memref<?x8xf32>, %[[B:.+]]: memref<8xf32>, %[[O:.+]]: memref<?x8xf32>
// CHECK-DAG: %[[M:.+]] = memref.dim %[[A]]
// CHECK-DAG: %[[POINTS:.+]] = arith.muli %[[M]], %{{.+}} : index
// CHECK: llvm.call @coda_gpu_launch_points
// CHECK-NOT: linalg
// CHECK: gpu.func @elementwise_loops_0
// CHECK-SAME: %[[M:.+]]: index, %[[POINTS:.+]]: index, %[[A:.+]]: memref<?x8xf32>, %[[B:.+]]: memref<8xf32>, %[[O:.+]]: memref<?x8xf32>
// CHECK-DAG: %[[BLOCK:.+]] = gpu.block_id x
// CHECK-DAG: %[[THREAD:.+]] = gpu.thread_id x
// CHECK-DAG: %[[GRID:.+]] = gpu.grid_dim x
// CHECK-DAG: %[[START:.+]] = arith.muli %[[BLOCK]], %[[C256:.+]] : index
// CHECK-DAG: %[[FIRST:.+]] = arith.addi %[[START]], %[[THREAD]] : index
// CHECK-DAG: %[[STEP:.+]] = arith.muli %[[GRID]], %[[C256]] : index
// CHECK: scf.for %[[P:.+]] = %[[FIRST]] to %[[POINTS]] step %[[STEP]]
// CHECK: %[[COLUMN:.+]] = arith.remui %[[P]], %[[C8:.+]] : index
// CHECK: %[[ROW:.+]] = arith.divui %[[P]], %[[C8]] : index
// CHECK: %[[X:.+]] = memref.load %[[A]][%[[ROW]], %[[COLUMN]]]
// CHECK: %[[Y:.+]] = memref.load %[[B]][%[[COLUMN]]]
// CHECK: %[[Z:.+]] = arith.addf %[[X]], %[[Y]] : f32
// CHECK: memref.store %[[Z]], %[[O]][%[[ROW]], %[[COLUMN]]]
func.func @elementwise(%a: memref<?x8xf32>, %b: memref<8xf32>, %o: memref<?x8xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : memref<?x8xf32>, memref<8xf32>) outs(%o : memref<?x8xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// A product of matrices in bf16: the sum and the products in f32, one rounding.
// CHECK-LABEL: gpu.func @matmul_loops_0
// CHECK-SAME: %[[O:arg[0-9]+]]: memref<4x8xbf16>, %[[A:arg[0-9]+]]: memref<4x16xbf16>, %[[B:arg[0-9]+]]: memref<16x8xbf16>
// CHECK: %[[OLD:.+]] = memref.load %[[O]][%[[M:.+]], %[[N:.+]]] : memref<4x8xbf16>
// CHECK: %[[START:.+]] = arith.extf %[[OLD]] : bf16 to f32
// CHECK: %[[SUM:.+]] = scf.for %[[K:.+]] = %{{.+}} to %{{.+}} step %{{.+}} iter_args(%[[ACC:.+]] = %[[START]]) -> (f32)
// CHECK: %[[X:.+]] = memref.load %[[A]][%[[M]], %[[K]]]
// CHECK: %[[Y:.+]] = memref.load %[[B]][%[[K]], %[[N]]]
// CHECK: %[[XW:.+]] = arith.extf %[[X]] : bf16 to f32
// CHECK: %[[YW:.+]] = arith.extf %[[Y]] : bf16 to f32
// CHECK: %[[P:.+]] = arith.mulf %[[XW]], %[[YW]] : f32
// CHECK: %[[S:.+]] = arith.addf %[[ACC]], %[[P]] : f32
// CHECK: scf.yield %[[S]] : f32
// CHECK: %[[R:.+]] = arith.truncf %[[SUM]] : f32 to bf16
// CHECK: memref.store %[[R]], %[[O]][%[[M]], %[[N]]]
func.func @matmul(%a: memref<4x16xbf16>, %b: memref<16x8xbf16>, %o: memref<4x8xbf16>) {
  linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<4x16xbf16>, memref<16x8xbf16>) outs(%o : memref<4x8xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %z: bf16):
    %p = arith.mulf %x, %y : bf16
    %s = arith.addf %z, %p : bf16
    linalg.yield %s : bf16
  }
  return
}

// -----

// A sum in f64 stays in f64; one without parallel dims is one thread's.
// CHECK-LABEL: gpu.func @total_loops_0
// CHECK: scf.for {{.*}} -> (f64)
// CHECK-NOT: f32
// CHECK: gpu.return
func.func @total(%a: memref<?xf64>, %o: memref<f64>) {
  linalg.generic {
      indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> ()>], iterator_types = ["reduction"]}
      ins(%a : memref<?xf64>) outs(%o : memref<f64>) {
  ^bb0(%x: f64, %z: f64):
    %s = arith.addf %z, %x : f64
    linalg.yield %s : f64
  }
  return
}

// -----

// Equal kernels are made once. A contiguous copy stays for the launch runtime, a
// strided one is a kernel, as is a store.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-4: llvm.call @coda_gpu_launch_points
// CHECK: memref.copy %{{.+}}, %{{.+}} : memref<4x4xf32> to memref<4x4xf32>
// CHECK-COUNT-3: gpu.func @others_loops_
// CHECK-NOT: gpu.func
func.func @others(%a: memref<4x4xf32>, %b: memref<4x4xf32>, %s: memref<4x4xf32, strided<[8, 1]>>, %i: index, %v: f32) {
  linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      outs(%a : memref<4x4xf32>) {
  ^bb0(%z: f32):
    %y = arith.negf %z : f32
    linalg.yield %y : f32
  }
  linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      outs(%b : memref<4x4xf32>) {
  ^bb0(%z: f32):
    %y = arith.negf %z : f32
    linalg.yield %y : f32
  }
  memref.copy %s, %a : memref<4x4xf32, strided<[8, 1]>> to memref<4x4xf32>
  memref.store %v, %a[%i, %i] : memref<4x4xf32>
  memref.copy %a, %b : memref<4x4xf32> to memref<4x4xf32>
  return
}

// -----

// What an assert guards is not done where it does not hold.
// CHECK-LABEL: gpu.func @gather_loops_0
// CHECK: %[[AT:.+]] = memref.load %[[I:.+]][%[[P:.+]]] : memref<4xi32>
// CHECK: %[[HOLDS:.+]] = arith.cmpi ult, %[[AT]], %{{.+}} : i32
// CHECK: %[[R:.+]] = scf.if %[[HOLDS]] -> (f32)
// CHECK:   memref.load %{{.+}}[%{{.+}}] : memref<100xf32>
// CHECK: else
// CHECK-NEXT: scf.yield %[[NAN:.+]] : f32
// CHECK: memref.store %[[R]], %{{.+}}[%[[P]]]
func.func @gather(%t: memref<100xf32>, %i: memref<4xi32>, %o: memref<4xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>], iterator_types = ["parallel"]}
      ins(%i : memref<4xi32>) outs(%o : memref<4xf32>) {
  ^bb0(%x: i32, %z: f32):
    %c100 = arith.constant 100 : i32
    %holds = arith.cmpi ult, %x, %c100 : i32
    cf.assert %holds, "index out of range"
    %at = arith.index_cast %x : i32 to index
    %y = memref.load %t[%at] : memref<100xf32>
    linalg.yield %y : f32
  }
  return
}

// -----

// A constant goes into the image of the kernels.
memref.global "private" constant @table : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>

// CHECK-LABEL: func.func @constant
// CHECK-NOT: memref.copy
// CHECK: llvm.call @coda_gpu_launch_points
// CHECK: gpu.module @coda_kernels
// CHECK: memref.global "private" constant @table
// CHECK: gpu.func @constant_loops_0
// CHECK: memref.get_global @table
func.func @constant(%o: memref<4xf32>) {
  %t = memref.get_global @table : memref<4xf32>
  memref.copy %t, %o : memref<4xf32> to memref<4xf32>
  return
}

// -----

// Groups of a reduced dim are independent: a thread takes one of a column.
// CHECK-LABEL: func.func @groups
// CHECK-SAME: %[[X:.+]]: memref<?x8xf32>, %[[S:.+]]: memref<?x8xf32>
// CHECK: %[[M:.+]] = memref.dim %[[X]]
// CHECK: %[[COUNT:.+]] = arith.ceildivui %[[M]], %c128
// CHECK: arith.muli %[[COUNT]], %c8
// CHECK: gpu.func @groups_loops_0(%[[M:.+]]: index, %[[POINTS:.+]]: index, %[[S:.+]]: memref<?x8xf32>, %[[X:.+]]: memref<?x8xf32>)
// CHECK: scf.for %[[P:.+]] = %{{.+}} to %[[POINTS]]
// CHECK: %[[N:.+]] = arith.remui %[[P]], %[[C8:.+]] : index
// CHECK: %[[G:.+]] = arith.divui %[[P]], %[[C8]] : index
// CHECK: %[[BEGIN:.+]] = arith.muli %[[G]], %[[SIZE:.+]] : index
// CHECK: %[[NEXT:.+]] = arith.addi %[[BEGIN]], %[[SIZE]] : index
// CHECK: %[[END:.+]] = arith.minui %[[M]], %[[NEXT]] : index
// CHECK: %[[OLD:.+]] = memref.load %[[S]][%[[AT:.+]], %[[N]]]
// CHECK: %[[SUM:.+]] = scf.for %[[I:.+]] = %[[BEGIN]] to %[[END]] step %{{.+}} iter_args(%[[ACC:.+]] = %[[OLD]])
// CHECK: memref.load %[[X]][%[[I]], %[[N]]]
// CHECK: memref.store %[[SUM]], %[[S]][%[[AT]], %[[N]]]
func.func @groups(%x: memref<?x8xf32>, %s: memref<?x8xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m floordiv 128, n)>],
      iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<?x8xf32>) outs(%s : memref<?x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %t = arith.addf %b, %a : f32
    linalg.yield %t : f32
  }
  return
}

// -----

// Two outputs with groups of two sizes: one thread a column, in the order of rows.
// CHECK: gpu.func @two_sizes_loops_0
// CHECK: scf.for
// CHECK: scf.for %[[I:.+]] = %c0 to %c300
// CHECK: memref.store
// CHECK: memref.store
func.func @two_sizes(%x: memref<300x8xf32>, %s: memref<3x8xf32>, %t: memref<5x8xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m floordiv 128, n)>, affine_map<(m, n) -> (m floordiv 64, n)>],
      iterator_types = ["reduction", "parallel"]}
      ins(%x : memref<300x8xf32>) outs(%s, %t : memref<3x8xf32>, memref<5x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.addf %b, %a : f32
    %q = arith.addf %c, %a : f32
    linalg.yield %p, %q : f32, f32
  }
  return
}

// -----

// On tensors there is no place to store to: left as it is.
// CHECK-LABEL: func.func @on_tensors
// CHECK-SAME: %[[A:.+]]: tensor<4x8xf32>
// CHECK: %[[R:.+]] = linalg.generic {{.*}} ins(%[[A]] : tensor<4x8xf32>)
// CHECK: return %[[R]] : tensor<4x8xf32>
func.func @on_tensors(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.addf %x, %x : f32
    linalg.yield %y : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
