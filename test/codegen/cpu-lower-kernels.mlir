// The outlined function, its loops, and the tasks of a kernel whose function has a context.
// RUN: resid-opt %s --resid-lower-kernels --split-input-file --verify-diagnostics | FileCheck %s

#full = affine_map<(r, c) -> (r, c)>

// Bare pointers, captured scalars and the range of rows; constants are made again inside.
// CHECK-LABEL: func.func private @scale__rows(
// CHECK-SAME:      %{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: !llvm.ptr, %[[SCALE:.*]]: f32, %[[LOW:.*]]: i64, %[[HIGH:.*]]: i64)
// CHECK-SAME:      passthrough = ["noinline"]
// CHECK:         scf.for %{{.*}} = %[[LOW]] to %[[HIGH]]
// The lanes of a chunk: independent, a register wide.
// CHECK:             scf.for %{{.*}} = %{{.*}} to %c64_i64
// CHECK:               llvm.load %{{.*}} {access_groups = [#[[GROUP:.*]]], alignment = 1 : i64} : !llvm.ptr -> f32
// CHECK:               arith.mulf %{{.*}}, %[[SCALE]]
// CHECK:               llvm.store %{{.*}} {access_groups = [#[[GROUP]]], alignment = 1 : i64} : f32, !llvm.ptr
// CHECK:             } {llvm.loop_annotation = #{{.*}}}
// CHECK-LABEL: func.func @scale(
// CHECK:         call @scale__rows(
// CHECK-NOT:     rows.
func.func @scale(%x: memref<?x?xf32>, %s: f32, %rows: index, %cols: index, %y: memref<?x?xf32>) {
  rows.kernel rows(%rows) columns(%cols) ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>)
      attributes {indexing_maps = [#full, #full]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %yr: !rows.row<f32>):
    rows.phase [] {
    ^bb0(%j: index):
      %v = rows.load %xr[%j] : !rows.row<f32> -> f32
      %o = arith.mulf %v, %s : f32
      rows.store %o, %yr[%j] : f32, !rows.row<f32>
    }
  }
  return
}

// -----

#full = affine_map<(r, c) -> (r, c)>

// CHECK-LABEL: func.func private @f__task(
// CHECK-SAME:      %[[RECORD:.*]]: !llvm.ptr, %[[INDEX:.*]]: i64)
// CHECK:         %[[LOW:.*]] = arith.muli %[[INDEX]], %[[STEP:.*]] : i64
// CHECK:         %[[NEXT:.*]] = arith.addi %[[LOW]], %[[STEP]] : i64
// CHECK:         %[[HIGH:.*]] = arith.minsi %[[NEXT]],
// CHECK:         call @f__rows({{.*}}%[[LOW]], %[[HIGH]])
// CHECK-LABEL: func.func private @f__impl(
// CHECK-SAME:      %[[CONTEXT:.*]]: !llvm.ptr,
// A task has at least 32,768 elements: 32 rows of 1,024.
// CHECK:         arith.ceildivsi %{{.*}}, %c32_i64{{.*}} : i64
// CHECK:         llvm.getelementptr %[[CONTEXT]][16]
// CHECK:         llvm.call %{{.*}}(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : !llvm.ptr, (!llvm.ptr, i64, !llvm.ptr, !llvm.ptr) -> ()
// CHECK:       } else {
// CHECK:         func.call @f__rows(
func.func private @f__impl(%ctx: !llvm.ptr, %x: memref<?x1024xf32>, %y: memref<?x1024xf32>) {
  %c0 = arith.constant 0 : index
  %cols = arith.constant 1024 : index
  %rows = memref.dim %x, %c0 : memref<?x1024xf32>
  rows.kernel rows(%rows) columns(%cols) ins(%x : memref<?x1024xf32>) outs(%y : memref<?x1024xf32>)
      attributes {indexing_maps = [#full, #full]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %yr: !rows.row<f32>):
    rows.phase [] {
    ^bb0(%j: index):
      %v = rows.load %xr[%j] : !rows.row<f32> -> f32
      rows.store %v, %yr[%j] : f32, !rows.row<f32>
    }
  }
  return
}

// -----

#full = affine_map<(r, c) -> (r, c)>

func.func @not_contiguous(%x: memref<?x?xf32, strided<[?, 2]>>, %rows: index, %cols: index, %y: memref<?x?xf32>) {
  // expected-error @below {{expected operands whose columns are contiguous, but got 'memref<?x?xf32, strided<[?, 2]>>'}}
  rows.kernel rows(%rows) columns(%cols) ins(%x : memref<?x?xf32, strided<[?, 2]>>) outs(%y : memref<?x?xf32>)
      attributes {indexing_maps = [#full, #full]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %yr: !rows.row<f32>):
  }
  return
}

// -----

#full = affine_map<(r, c) -> (r, c)>

func.func @on_tensors(%x: tensor<?x?xf32>, %rows: index, %cols: index) -> tensor<?x?xf32> {
  // expected-error @below {{expected operands in memory, but got 'tensor<?x?xf32>'}}
  %y = rows.kernel rows(%rows) columns(%cols) ins() outs(%x : tensor<?x?xf32>)
      attributes {indexing_maps = [#full]} -> tensor<?x?xf32> {
  ^bb0(%r: index, %xr: !rows.row<f32>):
  }
  return %y : tensor<?x?xf32>
}
