// All dialects become LLVM's in one conversion; vector ops that kernels do not use are broken down before.
// RUN: resid-opt %s --split-input-file --resid-convert-to-llvm --reconcile-unrealized-casts --mlir-timing --mlir-timing-display=list -o %t.mlir 2>&1 | FileCheck %s --check-prefix=PASSES
// RUN: FileCheck %s --input-file=%t.mlir

// PASSES-DAG: ConvertVectorToLLVMPass
// PASSES-DAG: ConvertVectorToSCF
// RUN: resid-opt %S/Inputs/plain-buffers.mlir --resid-convert-to-llvm --mlir-timing --mlir-timing-display=list -o /dev/null 2>&1 | FileCheck %s --check-prefix=PLAIN
// PLAIN-NOT: {{ConvertVector}}
// PLAIN:     SCFToControlFlowPass
// PLAIN-NOT: {{ConvertVector}}

// CHECK-NOT:   {{(arith|scf|cf|func|memref|math|index|ub|vector|builtin.unrealized)[.a-z_]*\.}}
// CHECK-LABEL: llvm.func @loop
// CHECK-DAG:     llvm.intr.fma
// CHECK-DAG:     llvm.shufflevector
// CHECK-DAG:     llvm.cond_br
// CHECK-DAG:     llvm.mlir.poison
// CHECK-NOT:   {{(arith|scf|cf|func|memref|math|index|ub|vector)\.[a-z]}}
// CHECK:       llvm.return
func.func @loop(%x: memref<?xf32>, %n: index, %s: f32) -> (vector<8xf32>, i32) {
  %c0 = index.constant 0
  %c1 = arith.constant 1 : index
  %nothing = ub.poison : i32
  %start = vector.broadcast %s : f32 to vector<8xf32>
  %sum = scf.for %i = %c0 to %n step %c1 iter_args(%a = %start) -> vector<8xf32> {
    %value = memref.load %x[%i] : memref<?xf32>
    %all = vector.broadcast %value : f32 to vector<8xf32>
    %next = math.fma %all, %a, %start : vector<8xf32>
    scf.yield %next : vector<8xf32>
  }
  return %sum, %nothing : vector<8xf32>, i32
}

// -----

// CHECK-LABEL: llvm.func @block_of_four
// CHECK-NOT:   {{(arith|scf|cf|func|memref|math|index|ub|vector)\.[a-z]}}
// CHECK:       llvm.return
func.func @block_of_four(%x: memref<4x4xf32>, %y: vector<4x4xf32>) -> vector<4x4xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %block = vector.transfer_read %x[%c0, %c0], %zero {in_bounds = [true, true]} : memref<4x4xf32>, vector<4x4xf32>
  %sum = arith.addf %block, %y : vector<4x4xf32>
  return %sum : vector<4x4xf32>
}
