// One line of the source for each op, whatever kind of location it has, on the
// host and in a kernel; and no call site is left to the pass that adds scopes.
//
// RUN: coda-opt %s --coda-gpu-source-lines --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s
// RUN: coda-opt %s --coda-gpu-source-lines --ensure-debug-info-scope-on-llvm-func --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s --check-prefix=SCOPES

#callee = loc("model.mlir":3:5)
#caller = loc("model.mlir":9:3)
#other = loc("layer.mlir":21:7)
#inlined = loc(callsite(#callee at #caller))
#twice = loc(callsite(#callee at callsite(#other at #caller)))
#without_callee = loc(callsite(unknown at #caller))
#fused = loc(fused["matmul"(#other), #callee])
#fused_inlined = loc(fused[unknown, #twice])
#range = loc("model.mlir":4:2 to 6:8)

// CHECK-LABEL: func.func @host
func.func @host(%a: i64) -> i64 {
  // CHECK: arith.addi {{.*}} loc("model.mlir":3:5)
  %0 = arith.addi %a, %a : i64 loc(#inlined)
  // CHECK: arith.muli {{.*}} loc("model.mlir":9:3)
  %1 = arith.muli %0, %a : i64 loc(#without_callee)
  return %1 : i64 loc(#twice)
// CHECK: } loc("model.mlir":3:5)
} loc(#inlined)

gpu.module @kernels {
  // CHECK-LABEL: llvm.func @kernel
  // SCOPES-LABEL: llvm.func @kernel
  llvm.func @kernel(%a: f32) -> f32 {
    // CHECK: llvm.fadd {{.*}} loc("model.mlir":3:5)
    // SCOPES: llvm.fadd {{.*}} loc("model.mlir":3:5)
    %0 = llvm.fadd %a, %a : f32 loc(#inlined)
    // CHECK: llvm.fsub {{.*}} loc("model.mlir":3:5)
    %1 = llvm.fsub %0, %a : f32 loc(#twice)
    // CHECK: llvm.fmul {{.*}} loc("model.mlir":9:3)
    %2 = llvm.fmul %1, %a : f32 loc(#without_callee)
    // CHECK: llvm.fdiv {{.*}} loc("layer.mlir":21:7)
    // SCOPES: llvm.fdiv {{.*}} loc(fused<#llvm.di_lexical_block_file<{{.*}}"layer.mlir"{{.*}}>["layer.mlir":21:7])
    %3 = llvm.fdiv %2, %a : f32 loc(#fused)
    // CHECK: llvm.frem {{.*}} loc("model.mlir":3:5)
    %4 = llvm.frem %3, %a : f32 loc(#fused_inlined)
    // CHECK: llvm.fneg {{.*}} loc("model.mlir":4:2)
    %5 = llvm.fneg %4 : f32 loc(#range)
    // CHECK: llvm.fadd {{.*}} loc(unknown)
    %6 = llvm.fadd %5, %a : f32 loc(unknown)
    llvm.return %6 : f32 loc("named")
  // CHECK: } loc("model.mlir":9:3)
  // SCOPES: } loc(fused<#llvm.di_subprogram<{{.*}}name = "kernel"{{.*}}line = 9,{{.*}}["model.mlir":9:3])
  } loc(fused["outlined", #caller])
}

// What has a scope already keeps it.
#file = #llvm.di_file<"scoped.mlir" in "">
#block = #llvm.di_lexical_block_file<scope = #file, file = #file, discriminator = 0>
// CHECK-LABEL: func.func @scoped
func.func @scoped() {
  // CHECK: return loc(fused<#llvm.di_lexical_block_file<{{.*}}>["scoped.mlir":2:1])
  return loc(fused<#block>["scoped.mlir":2:1])
}
