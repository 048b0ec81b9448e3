// Narrow rows in batches: each phase goes over the rows of a batch before the next one begins.
// RUN: resid-opt %s --resid-lower-kernels="vector-bits=512 masked-bits=16 x86 schedule=rows=batched,prefetch=off" | FileCheck %s

#full = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>

// 100 columns are two chunks. Three rows of f32 take 24 KiB with 2048 columns, so that 16 rows are in a batch. The second phase takes the scalar of the row from an array, constants are made again.
// CHECK-LABEL: func.func private @batches__rows(
// CHECK-SAME:    %[[LOW:[a-z0-9]+]]: i64, %[[HIGH:[a-z0-9]+]]: i64)
// CHECK:         %[[ARRAY:.*]] = llvm.alloca {{.*}} x !llvm.array<32 x f32>
// CHECK:         scf.for %[[FIRST:.*]] = %[[LOW]] to %[[HIGH]] step %c16_i64
// CHECK:           %[[BEHIND:.*]] = arith.addi %[[FIRST]], %c16_i64
// CHECK-NEXT:      %[[END:.*]] = arith.minsi %[[BEHIND]], %[[HIGH]]
// CHECK:           scf.for %[[R:.*]] = %[[FIRST]] to %[[END]] step
// CHECK:             %[[PLACE:.*]] = arith.subi %[[R]], %[[FIRST]]
// CHECK:             math.fma
// CHECK:             %[[HALF:.*]] = arith.divf
// CHECK-NEXT:        %[[TO:.*]] = llvm.getelementptr inbounds %[[ARRAY]][%[[PLACE]]]
// CHECK-NEXT:        llvm.store %[[HALF]], %[[TO]]
// CHECK-NOT:         arith.mulf
// CHECK:           scf.for %[[SAME:.*]] = %[[FIRST]] to %[[END]] step
// CHECK:             %[[OWN:.*]] = arith.subi %[[SAME]], %[[FIRST]]
// CHECK:             %[[FROM:.*]] = llvm.getelementptr inbounds %[[ARRAY]][%[[OWN]]]
// CHECK-NEXT:        %[[TAKEN:.*]] = llvm.load %[[FROM]]
// CHECK:             vector.broadcast %[[TAKEN]]
// CHECK:             arith.mulf
// CHECK:             arith.addf %[[TAKEN]], %{{.*}} : f32

// Past the cache, a batch has 1024 columns. On the stack, there is a row for each one of the batch, 8 times 128 columns, and one for the result; their tails are cleared before.
// CHECK-NOT:   @batches__row(
// CHECK-LABEL: func.func private @batches__stream(
// CHECK:         llvm.alloca {{.*}} x !llvm.array<4672 x i8>
// CHECK:         scf.for {{.*}} step
// CHECK:           scf.for
// CHECK:             llvm.store {{.*}} : vector<16xf32>
// CHECK:         scf.for %[[FIRST:.*]] = %{{.*}} to %{{.*}} step %c8_i64
// CHECK:           scf.for %[[R:.*]] = %[[FIRST]] to
// CHECK:             %[[PLACE:.*]] = arith.subi %[[R]], %[[FIRST]]
// CHECK:             %[[COLUMNS:.*]] = arith.muli %[[PLACE]],
// CHECK-NEXT:        llvm.getelementptr %{{.*}}[%[[COLUMNS]]]
func.func @batches(%x: memref<?x100xf32>, %s: memref<?x100xf32>, %y: memref<?x100xf32>, %q: memref<?xf32>, %rows: index) {
  %cols = arith.constant 100 : index
  rows.kernel rows(%rows) columns(%cols) ins(%x : memref<?x100xf32>)
      outs(%s, %y, %q : memref<?x100xf32>, memref<?x100xf32>, memref<?xf32>) attributes {indexing_maps = [#full, #full, #full, #row]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %sr: !rows.row<f32>, %yr: !rows.row<f32>, %qr: !rows.row<f32>):
    %two = arith.constant 2.0 : f32
    %sum = rows.phase [sum_of_squares] : f32 {
    ^bb0(%j: index):
      %a = rows.load %xr[%j] : !rows.row<f32> -> f32
      %b = arith.addf %a, %a : f32
      rows.store %b, %sr[%j] : f32, !rows.row<f32>
      rows.yield %b : f32
    }
    %half = arith.divf %sum, %two : f32
    rows.phase [] {
    ^bb0(%j: index):
      %a = rows.load %sr[%j] : !rows.row<f32> -> f32
      %b = arith.mulf %a, %half : f32
      rows.store %b, %yr[%j] : f32, !rows.row<f32>
    }
    %more = arith.addf %half, %two : f32
    rows.store %more, %qr : f32, !rows.row<f32>
  }
  return
}

// One row of one chunk alone has code of its own, without memory on the stack and without a loop over rows. A call
// asks for it where it writes through the cache.
// CHECK-LABEL: func.func private @narrow__row(
// CHECK-SAME:    %{{[a-z0-9]+}}: !llvm.ptr, %{{[a-z0-9]+}}: !llvm.ptr, %{{[a-z0-9]+}}: !llvm.ptr)
// CHECK-NOT:     llvm.alloca
// CHECK-NOT:     step %c1_i64
// CHECK:         llvm.store
// CHECK:         return
// CHECK-LABEL: func.func private @narrow__stream(
// CHECK-LABEL: func.func @narrow(
// CHECK:           call @narrow__stream(%[[S:.*]], %[[Y:.*]], %[[X:.*]], %[[ZERO:.*]], %[[ROWS:.*]]) :
// CHECK-NEXT:    } else {
// CHECK:           %[[ISLONE:.*]] = arith.cmpi eq, %[[ROWS]], %c1_i64{{.*}}
// CHECK-NEXT:      scf.if %[[ISLONE]] {
// CHECK-NEXT:        call @narrow__row(%[[S]], %[[Y]], %[[X]]) :
// CHECK-NEXT:      } else {
// CHECK-NEXT:        call @narrow__rows(%[[S]], %[[Y]], %[[X]], %[[ZERO]], %[[ROWS]]) :
func.func @narrow(%x: memref<?x40xf32>, %s: memref<?x40xf32>, %y: memref<?x40xf32>, %rows: index) {
  %cols = arith.constant 40 : index
  rows.kernel rows(%rows) columns(%cols) ins(%x : memref<?x40xf32>) outs(%s, %y : memref<?x40xf32>, memref<?x40xf32>)
      attributes {indexing_maps = [#full, #full, #full]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %sr: !rows.row<f32>, %yr: !rows.row<f32>):
    %sum = rows.phase [sum_of_squares] : f32 {
    ^bb0(%j: index):
      %a = rows.load %xr[%j] : !rows.row<f32> -> f32
      %b = arith.addf %a, %a : f32
      rows.store %b, %sr[%j] : f32, !rows.row<f32>
      rows.yield %b : f32
    }
    rows.phase [] {
    ^bb0(%j: index):
      %a = rows.load %sr[%j] : !rows.row<f32> -> f32
      %b = arith.mulf %a, %sum : f32
      rows.store %b, %yr[%j] : f32, !rows.row<f32>
    }
  }
  return
}
