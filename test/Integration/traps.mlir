// Data that would trap or read out of bounds gives a status with a message.
// --seed makes integers of 0 and 1.

// RUN: split-file %s %t
// RUN: sh -c 'coda-run %t/divide.mlir --seed=1; echo exit $?' 2>&1 | FileCheck %s --check-prefix=DIVIDE
// RUN: sh -c 'coda-run %t/gather.mlir --seed=1; echo exit $?' 2>&1 | FileCheck %s --check-prefix=GATHER
// RUN: sh -c 'coda-run %t/gather.mlir --seed=1 --extent=2; echo exit $?' 2>&1 | FileCheck %s --check-prefix=FITS

// DIVIDE: error: {{.*}}the call of 'main': {{.*}}integer division by zero
// DIVIDE-NEXT: exit 2
// GATHER: error: {{.*}}the call of 'main': {{.*}}index 0 into a tensor is out of its bounds
// GATHER-NEXT: exit 2
// FITS-NOT: error
// FITS: exit 0

//--- divide.mlir
func.func @main(%x: tensor<32xi64>, %y: tensor<32xi64>) -> tensor<32xi64> {
  %e = tensor.empty() : tensor<32xi64>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x, %y : tensor<32xi64>, tensor<32xi64>) outs(%e : tensor<32xi64>) {
  ^bb0(%a: i64, %b: i64, %o: i64):
    %q = arith.divsi %a, %b : i64
    linalg.yield %q : i64
  } -> tensor<32xi64>
  return %r : tensor<32xi64>
}

//--- gather.mlir
// Rows 63 and 64 of a table of 64 rows, rows 0 and 1 of a smaller one.
func.func @main(%t: tensor<?x4xf32>, %rows: tensor<?xi64>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c63 = arith.constant 63 : index
  %n = tensor.dim %rows, %c0 : tensor<?xi64>
  %m = tensor.dim %t, %c0 : tensor<?x4xf32>
  %large = arith.cmpi sgt, %m, %c63 : index
  %first = arith.select %large, %c63, %c0 : index
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%rows : tensor<?xi64>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%row: i64, %o: f32):
    %i = arith.index_cast %row : i64 to index
    %d = arith.addi %i, %first : index
    %j = linalg.index 1 : index
    %v = tensor.extract %t[%d, %j] : tensor<?x4xf32>
    linalg.yield %v : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
