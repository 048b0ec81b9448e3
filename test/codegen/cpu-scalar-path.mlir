// The scalar path, asked for by the schedule: loops over 64 lanes in a form that LLVM vectorises.
// RUN: resid-opt %s --resid-lower-kernels="schedule=path=scalar" | FileCheck %s
// RUN: not resid-opt %s --resid-lower-kernels="schedule=path=fast" 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: error: expected path=vector or scalar, but got 'fast'
// RUN: not resid-opt %s --resid-lower-kernels="schedule=speed=high" 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: error: expected a key of the schedule, but got 'speed'; the keys are path, {{.*}}

#full = affine_map<(r, c) -> (r, c)>

// The lanes of a chunk: independent, a register wide.
// CHECK-LABEL: func.func private @scale__rows(
// CHECK-SAME:      %[[SCALE:[a-z0-9]*]]: f32, %[[LOW:.*]]: i64, %[[HIGH:.*]]: i64)
// CHECK:             scf.for %{{.*}} = %{{.*}} to %c64_i64
// CHECK:               llvm.load %{{.*}} {access_groups = [#[[GROUP:.*]]], alignment = 1 : i64} : !llvm.ptr -> f32
// CHECK:               arith.mulf %{{.*}}, %[[SCALE]]
// CHECK:               llvm.store %{{.*}} {access_groups = [#[[GROUP]]], alignment = 1 : i64} : f32, !llvm.ptr
// CHECK:             } {llvm.loop_annotation = #{{.*}}}
// CHECK-NOT:         vector<
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
