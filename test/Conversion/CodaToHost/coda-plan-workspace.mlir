// RUN: coda-opt %s --coda-plan-workspace --canonicalize --split-input-file | FileCheck %s

#entry = {name = "f", inputs = [tensor<64xf32>], outputs = [tensor<64xf32>], launches = 0 : i32}

// Lifetimes [0, 2], [1, 4], [3, 5]: the first and the third share bytes.

// CHECK-LABEL: func.func @shared
// CHECK-SAME: %[[WS:[a-z0-9]+]]: memref<?xi8>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C256:.*]] = arith.constant 256 : index
// CHECK-NOT: memref.alloc
// CHECK: memref.view %[[WS]][%[[C0]]]
// CHECK: memref.view %[[WS]][%[[C256]]]
// CHECK: memref.view %[[WS]][%[[C0]]]
// CHECK-NOT: memref.alloc
// CHECK-LABEL: func.func private @shared_workspace
// CHECK: %[[SIZE:.*]] = arith.constant 512 : index
// CHECK: return %[[SIZE]]
func.func @shared(%in: memref<64xf32>, %out: memref<64xf32>) -> memref<64xf32> attributes {coda.entry = #entry} {
  %a = memref.alloc() : memref<64xf32>
  linalg.exp ins(%in : memref<64xf32>) outs(%a : memref<64xf32>)
  %b = memref.alloc() : memref<64xf32>
  linalg.exp ins(%a : memref<64xf32>) outs(%b : memref<64xf32>)
  %c = memref.alloc() : memref<64xf32>
  linalg.exp ins(%b : memref<64xf32>) outs(%c : memref<64xf32>)
  linalg.exp ins(%c : memref<64xf32>) outs(%out : memref<64xf32>)
  return %out : memref<64xf32>
}

// -----

#entry = {name = "f", inputs = [tensor<?xf32>], outputs = [tensor<?xf32>], launches = 0 : i32}

// A dynamic size is computed from the argument; 64-byte blocks.

// CHECK-LABEL: func.func private @dynamic_workspace
// CHECK-SAME: %[[IN:[a-z0-9]+]]: memref<?xf32>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK: %[[N:.*]] = memref.dim %[[IN]], %[[C0]]
// CHECK: %[[BYTES:.*]] = arith.muli %[[N]], %[[C4]]
// CHECK: %[[BLOCKS:.*]] = arith.ceildivui %[[BYTES]], %[[C64]]
// CHECK: %[[SIZE:.*]] = arith.muli %[[BLOCKS]], %[[C64]]
// CHECK: return %[[SIZE]]
func.func @dynamic(%in: memref<?xf32>, %out: memref<?xf32>) -> memref<?xf32> attributes {coda.entry = #entry} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %in, %c0 : memref<?xf32>
  %a = memref.alloc(%n) : memref<?xf32>
  linalg.exp ins(%in : memref<?xf32>) outs(%a : memref<?xf32>)
  linalg.exp ins(%a : memref<?xf32>) outs(%out : memref<?xf32>)
  return %out : memref<?xf32>
}

// -----

#entry = {name = "f", inputs = [tensor<100xf32>], outputs = [tensor<100xf32>], launches = 0 : i32}

// An extent that varies in a loop takes its bound, 64 of f32.

// CHECK-LABEL: func.func private @loop_workspace
// CHECK: %[[SIZE:.*]] = arith.constant 256 : index
// CHECK: return %[[SIZE]]
func.func @loop(%in: memref<100xf32>, %out: memref<100xf32>) -> memref<100xf32> attributes {coda.entry = #entry} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c100 = arith.constant 100 : index
  scf.for %i = %c0 to %c100 step %c64 {
    %n = affine.min affine_map<(d0) -> (64, 100 - d0)>(%i)
    %a = memref.alloc(%n) : memref<?xf32>
    %s = memref.subview %in[%i] [%n] [1] : memref<100xf32> to memref<?xf32, strided<[1], offset: ?>>
    %o = memref.subview %out[%i] [%n] [1] : memref<100xf32> to memref<?xf32, strided<[1], offset: ?>>
    linalg.exp ins(%s : memref<?xf32, strided<[1], offset: ?>>) outs(%a : memref<?xf32>)
    linalg.exp ins(%a : memref<?xf32>) outs(%o : memref<?xf32, strided<[1], offset: ?>>)
  }
  return %out : memref<100xf32>
}

// -----

#entry = {name = "f", inputs = [tensor<?xf32>], outputs = [tensor<?xf32>], launches = 0 : i32}

// Of two buffers, one of which a branch yields, the extent is known if it is that of
// both, of an argument here, and so are sizes computed from it: a byte for each four
// elements.

// CHECK-LABEL: func.func private @branches_workspace
// CHECK-SAME: %[[IN:[a-z0-9]+]]: memref<?xf32>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C4:.*]] = arith.constant 4 : index
// CHECK-DAG: %[[C64:.*]] = arith.constant 64 : index
// CHECK-COUNT-2: memref.dim %[[IN]], %[[C0]]
// CHECK: %[[N:.*]] = memref.dim %[[IN]], %[[C0]]
// CHECK-NEXT: %[[QUARTER:.*]] = arith.ceildivui %[[N]], %[[C4]]
// CHECK: arith.ceildivui %[[QUARTER]], %[[C64]]
func.func @branches(%in: memref<?xf32>, %out: memref<?xf32>) -> memref<?xf32> attributes {coda.entry = #entry} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1 : i8
  %n = memref.dim %in, %c0 : memref<?xf32>
  %few = arith.cmpi ule, %n, %c64 : index
  %other = memref.alloc(%n) : memref<?xf32>
  %a = scf.if %few -> memref<?xf32> {
    linalg.exp ins(%in : memref<?xf32>) outs(%other : memref<?xf32>)
    scf.yield %other : memref<?xf32>
  } else {
    %own = memref.alloc(%n) : memref<?xf32>
    linalg.exp ins(%in : memref<?xf32>) outs(%own : memref<?xf32>)
    scf.yield %own : memref<?xf32>
  }
  %b = arith.select %few, %a, %in : memref<?xf32>
  %m = memref.dim %b, %c0 : memref<?xf32>
  %q = arith.ceildivui %m, %c4 : index
  %flags = memref.alloc(%q) : memref<?xi8>
  linalg.fill ins(%one : i8) outs(%flags : memref<?xi8>)
  linalg.exp ins(%b : memref<?xf32>) outs(%out : memref<?xf32>)
  return %out : memref<?xf32>
}

// -----

#entry = {name = "f", inputs = [tensor<?x?x4xf32>], outputs = [tensor<?x?x4xf32>], launches = 0 : i32}

// A result is the caller's buffer through a reshape that does not fold.

// CHECK-LABEL: func.func @reshaped(
// CHECK-SAME: %[[IN:[a-z0-9]+]]: memref<?x?x4xf32>, %[[OUT:[a-z0-9]+]]: memref<?x?x4xf32>, %{{.+}}: memref<?xi8>) attributes
// CHECK: %[[ROWS:.+]] = memref.collapse_shape %[[OUT]]
// CHECK: linalg.exp {{.*}} outs(%[[ROWS]] : memref<?x4xf32>)
// CHECK: return{{$}}
func.func @reshaped(%in: memref<?x?x4xf32>, %out: memref<?x?x4xf32>) -> memref<?x?x4xf32> attributes {coda.entry = #entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = memref.dim %in, %c0 : memref<?x?x4xf32>
  %t = memref.dim %in, %c1 : memref<?x?x4xf32>
  %x = memref.collapse_shape %in [[0, 1], [2]] : memref<?x?x4xf32> into memref<?x4xf32>
  %y = memref.collapse_shape %out [[0, 1], [2]] : memref<?x?x4xf32> into memref<?x4xf32>
  linalg.exp ins(%x : memref<?x4xf32>) outs(%y : memref<?x4xf32>)
  %r = memref.expand_shape %y [[0, 1], [2]] output_shape [%b, %t, 4] : memref<?x4xf32> into memref<?x?x4xf32>
  return %r : memref<?x?x4xf32>
}

// -----

#entry = {name = "f", inputs = [tensor<?x?x4xf32>], outputs = [tensor<?x4xf32>], launches = 0 : i32}

// The extents of reshapes follow from those of what is reshaped.

// CHECK-LABEL: func.func @extents_of_reshapes(
// CHECK: memref.view %{{.+}}[%{{.+}}][%{{.+}}] : memref<?xi8> to memref<?x4xf32>
// CHECK: memref.view %{{.+}}[%{{.+}}][%{{.+}}] : memref<?xi8> to memref<?xf32>
// CHECK-LABEL: func.func private @extents_of_reshapes_workspace(
// CHECK-SAME: %[[IN:[a-z0-9]+]]: memref<?x?x4xf32>, %{{.+}}: memref<?x4xf32>) -> index
// CHECK-DAG: %[[C0:.+]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.+]] = arith.constant 1 : index
// CHECK-DAG: %[[C4:.+]] = arith.constant 4 : index
// CHECK-DAG: %[[C16:.+]] = arith.constant 16 : index
// CHECK-DAG: %[[B:.+]] = memref.dim %[[IN]], %[[C0]]
// CHECK-DAG: %[[T:.+]] = memref.dim %[[IN]], %[[C1]]
// CHECK: %[[ROWS:.+]] = arith.muli %[[B]], %[[T]] : index
// CHECK: arith.muli %[[ROWS]], %[[C16]] : index
// CHECK: %[[U:.+]] = memref.dim %[[IN]], %[[C1]]
// CHECK: arith.muli %[[U]], %[[C4]] : index
func.func @extents_of_reshapes(%in: memref<?x?x4xf32>, %out: memref<?x4xf32>) -> memref<?x4xf32> attributes {coda.entry = #entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = memref.dim %in, %c0 : memref<?x?x4xf32>
  %t = memref.dim %in, %c1 : memref<?x?x4xf32>
  %x = memref.collapse_shape %in [[0, 1], [2]] : memref<?x?x4xf32> into memref<?x4xf32>
  %rows = memref.dim %x, %c0 : memref<?x4xf32>
  %y = memref.alloc(%rows) : memref<?x4xf32>
  linalg.exp ins(%x : memref<?x4xf32>) outs(%y : memref<?x4xf32>)
  %z = memref.expand_shape %y [[0, 1], [2]] output_shape [%b, %t, 4] : memref<?x4xf32> into memref<?x?x4xf32>
  %columns = memref.dim %z, %c1 : memref<?x?x4xf32>
  %w = memref.alloc(%columns) : memref<?xf32>
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%one : f32) outs(%w : memref<?xf32>)
  linalg.exp ins(%y : memref<?x4xf32>) outs(%out : memref<?x4xf32>)
  return %out : memref<?x4xf32>
}
