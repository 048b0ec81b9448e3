// Two rows at a time: the last phase of a row and the first one of the next row are one loop over the columns.
// RUN: resid-opt %s --resid-lower-kernels="vector-bits=512 masked-bits=16 x86 schedule=rows=pipelined,prefetch=off" | FileCheck %s
// One row at a time: by the schedule, and where registers are too narrow for 64 columns.
// RUN: for options in "vector-bits=512 schedule=rows=single" "vector-bits=256 schedule=rows=pipelined"; do \
// RUN:   resid-opt %s --resid-lower-kernels="masked-bits=16 x86 $options" | FileCheck %s --check-prefix=SINGLE || exit 1; done
// Narrow rows that are batched through the cache: eight of 256 columns at a time.
// RUN: sed 's/2048/256/g' %s | resid-opt --resid-lower-kernels="vector-bits=512 masked-bits=16 x86" | FileCheck %s --check-prefix=NARROW
// NARROW-LABEL: func.func private @two_rows__rows(
// NARROW:         scf.for %{{.*}} = %arg4 to %arg5 step %c8_i64
// NARROW-LABEL: func.func private @two_rows__stream(
// NARROW-NOT:     step %c8_i64
// NARROW:         scf.for {{.*}} = %arg4 to %arg5 step %c1_i64{{.*}} -> (f32)
// NARROW-LABEL: func.func private @{{.*}}__rows(

#full = affine_map<(r, c) -> (r, c)>
#row = affine_map<(r, c) -> (r)>

// What the loop over the rows carries is what the last phase needs of the row before: the sum. The first row has none before it.
// CHECK-LABEL: func.func private @two_rows__stream(
// CHECK-SAME:    %[[LOW:[a-z0-9]+]]: i64, %[[HIGH:[a-z0-9]+]]: i64)
// CHECK:         %[[ANY:.*]] = arith.cmpi slt, %[[LOW]], %[[HIGH]]
// CHECK-NEXT:    scf.if %[[ANY]] {
// CHECK:           %[[NONE:.*]] = arith.constant 0.0{{.*}} : f32
// CHECK:           %[[LAST:.*]] = scf.for %[[ROW:.*]] = %[[LOW]] to %[[HIGH]] step %{{.*}} iter_args(%[[BEFORE:.*]] = %[[NONE]]) -> (f32)
// CHECK-NEXT:        %[[FIRST:.*]] = arith.cmpi eq, %[[ROW]], %[[LOW]]
// The scalars of the row before are spread once per row; its columns are read from the scratch row, and the next ones stored there later.
// CHECK:             %[[SPREAD:.*]] = vector.broadcast %[[BEFORE]] : f32 to vector<16xf32>
// CHECK:             %[[SUMS:.*]]:4 = scf.if %[[FIRST]]
// CHECK-NOT:           %[[SPREAD]]
// CHECK:               math.fma
// CHECK:             } else {
// CHECK:               scf.for
// CHECK:                 llvm.load {{.*}} : !llvm.ptr -> vector<16xf32>
// CHECK:                 %[[SCALED:.*]] = arith.mulf %{{.*}}, %[[SPREAD]] : vector<16xf32>
// CHECK:                 llvm.store
// CHECK:                 llvm.store {{.*}} {alignment = 64 : i64, nontemporal}
// CHECK:                 llvm.store %[[SCALED]], {{.*}} {alignment = 64 : i64, nontemporal}
// CHECK:                 math.fma
// CHECK:             arith.addf %[[SUMS]]#0, %[[SUMS]]#2
// What stands after the last phase is of the row before, too.
// CHECK:             scf.if %[[FIRST]] {
// CHECK-NEXT:        } else {
// CHECK:               llvm.store %[[BEFORE]]
// CHECK:             scf.yield {{.*}} : f32
// The last phase of the last row.
// CHECK:           vector.broadcast %[[LAST]]
// CHECK:           llvm.store %[[LAST]]
// CHECK-NOT:       scf.for {{.*}} iter_args
// CHECK:         llvm.call_intrinsic "llvm.x86.sse.sfence"

// SINGLE-LABEL: func.func private @two_rows__stream(
// SINGLE:         scf.for
// SINGLE-NOT:     -> (f32) 
// SINGLE:         llvm.call_intrinsic "llvm.x86.sse.sfence"
func.func @two_rows(%x: memref<?x2048xf32>, %s: memref<?x2048xf32>, %y: memref<?x2048xf32>, %q: memref<?xf32>, %rows: index) {
  %cols = arith.constant 2048 : index
  rows.kernel rows(%rows) columns(%cols) ins(%x : memref<?x2048xf32>)
      outs(%s, %y, %q : memref<?x2048xf32>, memref<?x2048xf32>, memref<?xf32>) attributes {indexing_maps = [#full, #full, #full, #row]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %sr: !rows.row<f32>, %yr: !rows.row<f32>, %qr: !rows.row<f32>):
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
    rows.store %sum, %qr : f32, !rows.row<f32>
  }
  return
}

// A phase after the last one would read a row on the stack that the next row has replaced.
// CHECK-LABEL: func.func private @condition__stream(
// CHECK:         scf.for
// CHECK-NOT:     iter_args({{.*}} -> (f32) 
// CHECK:         llvm.call_intrinsic "llvm.x86.sse.sfence"
func.func @condition(%x: memref<?x2048xf32>, %s: memref<?x2048xf32>, %y: memref<?x2048xf32>, %q: memref<?xf32>, %rows: index) {
  %cols = arith.constant 2048 : index
  %one = arith.constant 1.0 : f32
  rows.kernel rows(%rows) columns(%cols) ins(%x : memref<?x2048xf32>)
      outs(%s, %y, %q : memref<?x2048xf32>, memref<?x2048xf32>, memref<?xf32>) attributes {indexing_maps = [#full, #full, #full, #row]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %sr: !rows.row<f32>, %yr: !rows.row<f32>, %qr: !rows.row<f32>):
    %sum = rows.phase [sum] : f32 {
    ^bb0(%j: index):
      %a = rows.load %xr[%j] : !rows.row<f32> -> f32
      rows.store %a, %sr[%j] : f32, !rows.row<f32>
      rows.yield %a : f32
    }
    rows.phase [] {
    ^bb0(%j: index):
      %a = rows.load %sr[%j] : !rows.row<f32> -> f32
      %b = arith.mulf %a, %sum : f32
      rows.store %b, %yr[%j] : f32, !rows.row<f32>
    }
    %large = arith.cmpf ogt, %sum, %one : f32
    %kept = scf.if %large -> f32 {
      %again = rows.phase [sum_of_squares] : f32 {
      ^bb0(%j: index):
        %a = rows.load %sr[%j] : !rows.row<f32> -> f32
        rows.yield %a : f32
      }
      scf.yield %again : f32
    } else {
      scf.yield %sum : f32
    }
    rows.store %kept, %qr : f32, !rows.row<f32>
  }
  return
}
