// Sums over leading dimensions become part of row kernels; see docs/numerics.md.
// RUN: resid-opt %s --resid-form-kernels="print-programs" 2>&1 | FileCheck %s
// RUN: resid-opt %s --resid-form-kernels --resid-bufferize | FileCheck %s --check-prefix=MEMORY

#all = affine_map<(r, c) -> (r, c)>
#columns = affine_map<(r, c) -> (c)>

// CHECK:      row program: rows [?] columns [8]
// CHECK:        out0: tensor<8xf32>, sum down the rows
// CHECK:        phase 0: results; reads in0; adds to out0

// The statistics, the norm and the sum of what it gives: one kernel.
// CHECK:      row program: rows [?] columns [8]
// CHECK:        out0: tensor<?x8xf32>
// CHECK-NEXT:   out1: tensor<8xf32>, sum down the rows
// CHECK:        phase 2: results; reads in0; writes out0; adds to out1

// CHECK-LABEL: func.func @reduce(
// CHECK-SAME:    %[[X:.*]]: tensor<?x8xf32>, %[[OLD:.*]]: tensor<8xf32>)
// CHECK:         rows.kernel rows(%{{.*}}) columns(%c8) ins(%[[X]] : tensor<?x8xf32>) outs(%[[OLD]] : tensor<8xf32>)
// CHECK-NEXT:    ^bb0(%{{.*}}: index, %[[FROM:.*]]: !rows.row<f32>, %[[TO:.*]]: !rows.row<f32>):
// CHECK-NEXT:      rows.phase [] {
// CHECK-NEXT:      ^bb0(%[[C:.*]]: index):
// CHECK-NEXT:        %[[A:.*]] = rows.load %[[FROM]][%[[C]]]
// CHECK-NEXT:        rows.accumulate %[[A]], %[[TO]][%[[C]]] : f32, <f32>
// MEMORY-LABEL: func.func @reduce(
// MEMORY:         %[[SCRATCH:.*]] = memref.alloc(%{{.*}}) : memref<?x64xf32>
// MEMORY:         rows.kernel {{.*}} scratch(%[[SCRATCH]] : memref<?x64xf32>)
func.func @reduce(%x: tensor<?x8xf32>, %old: tensor<8xf32>) -> tensor<8xf32> {
  %s = linalg.reduce {arith.addf} ins(%x : tensor<?x8xf32>) outs(%old : tensor<8xf32>) dimensions = [0]
  return %s : tensor<8xf32>
}

// CHECK-LABEL: func.func @with_norm(
// CHECK-NOT:     linalg.reduce
// CHECK:         rows.kernel
// CHECK:           rows.accumulate
// CHECK-NOT:     rows.kernel
// CHECK:         return
func.func @with_norm(%x: tensor<?x8xf32>, %old: tensor<8xf32>) -> (tensor<?x8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x8xf32>
  %scale, %rstd = rows.rms_statistics %x {epsilon = 1.0e-5, norm_rank = 1} : tensor<?x8xf32> -> tensor<?xf32>
  %empty = tensor.empty(%rows) : tensor<?x8xf32>
  %y = linalg.generic {indexing_maps = [#all, affine_map<(r, c) -> (r)>, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %rstd : tensor<?x8xf32>, tensor<?xf32>) outs(%empty : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<?x8xf32>
  %s = linalg.reduce {arith.addf} ins(%y : tensor<?x8xf32>) outs(%old : tensor<8xf32>) dimensions = [0]
  return %y, %s : tensor<?x8xf32>, tensor<8xf32>
}

// 30 rows are 4 groups: 4 lanes and one of zeros, each twice as long in f64 as the 64 columns of f32, and 4 times 3 rows for chains.
// MEMORY-LABEL: func.func @known(
// MEMORY:         memref.alloc() : memref<22x64xf32>
func.func @known(%x: tensor<30x8xf32>, %old: tensor<8xf32>) -> tensor<8xf32> {
  %s = linalg.reduce {arith.addf} ins(%x : tensor<30x8xf32>) outs(%old : tensor<8xf32>) dimensions = [0]
  return %s : tensor<8xf32>
}

// A row needs the sum of all rows: two kernels.
// CHECK-LABEL: func.func @centred(
// CHECK:         %[[SUM:.*]] = rows.kernel
// CHECK:           rows.accumulate
// CHECK:         rows.kernel {{.*}} ins({{.*}}%[[SUM]]
func.func @centred(%x: tensor<4x4xf32>, %old: tensor<4xf32>) -> tensor<4x4xf32> {
  %s = linalg.reduce {arith.addf} ins(%x : tensor<4x4xf32>) outs(%old : tensor<4xf32>) dimensions = [0]
  %empty = tensor.empty() : tensor<4x4xf32>
  %y = linalg.generic {indexing_maps = [#all, #columns, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<4x4xf32>, tensor<4xf32>) outs(%empty : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.subf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// What is no sum down the rows stays.
// CHECK-LABEL: func.func @others(
// CHECK-NOT:     rows.kernel
// CHECK:         return
func.func @others(%x: tensor<?x8xf32>, %v: tensor<?xf32>, %old: tensor<8xf32>, %narrow: tensor<8xbf16>, %xn: tensor<?x8xbf16>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xbf16>, tensor<8xf32>, tensor<?xf32>) {
  %largest = linalg.reduce {arith.maximumf} ins(%x : tensor<?x8xf32>) outs(%old : tensor<8xf32>) dimensions = [0]
  %contraction = linalg.generic {indexing_maps = [#all, affine_map<(r, c) -> (r)>, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%x, %v : tensor<?x8xf32>, tensor<?xf32>) outs(%old : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %sum = arith.addf %c, %p : f32
    linalg.yield %sum : f32
  } -> tensor<8xf32>
  %bf16 = linalg.reduce {arith.addf} ins(%xn : tensor<?x8xbf16>) outs(%narrow : tensor<8xbf16>) dimensions = [0]
  %fused = linalg.generic {indexing_maps = [#all, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x8xf32>) outs(%old : tensor<8xf32>) {
  ^bb0(%a: f32, %c: f32):
    %sum = math.fma %a, %a, %c : f32
    linalg.yield %sum : f32
  } -> tensor<8xf32>
  %along = linalg.reduce {arith.addf} ins(%x : tensor<?x8xf32>) outs(%v : tensor<?xf32>) dimensions = [1]
  return %largest, %contraction, %bf16, %fused, %along : tensor<8xf32>, tensor<8xf32>, tensor<8xbf16>, tensor<8xf32>, tensor<?xf32>
}
