// Kernels with the same code have one function, whatever they run on; only the numbers of dropout sites may differ.
// RUN: resid-opt %s --resid-lower-kernels --split-input-file | FileCheck %s
// RUN: resid-opt %s --resid-lower-kernels="vector-bits=512 masked-bits=16 x86" --split-input-file \
// RUN:   | FileCheck %s --check-prefix=STREAM

#full = affine_map<(r, c) -> (r, c)>

// Of two functions, one with tasks; the site is an argument, the factor that all share stays a constant.
// CHECK:      func.func private @first__rows(
// CHECK-SAME:     %{{[^:]*}}: !llvm.ptr, %{{[^:]*}}: i64, %{{[^:]*}}: !llvm.ptr, %[[SEED:[^:]*]]: i64, %[[SITE:[^:]*]]: i64, %{{[^:]*}}: i64, %{{[^:]*}}: i64)
// CHECK:        arith.constant 5.000000e-01 : f32
// CHECK:        vector.broadcast %[[SITE]] : i64
// CHECK-NOT:  @second__rows
// CHECK:      func.func @first(
// CHECK:        call @first__rows(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %c3_i64{{[_0-9]*}},
// CHECK:        call @first__rows(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %c7_i64{{[_0-9]*}},
// CHECK:      func.func @second(
// CHECK:        call @first__rows(
// CHECK-NOT:  func.func
// STREAM-DAG:   func.func private @first__stream(
// STREAM-LABEL: func.func @second(
// STREAM:         call @first__stream(
// STREAM:         call @first__rows(
// STREAM-NOT:   func.func {{.*}}@second
func.func @first(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %seed: i64, %rows: index, %cols: index) {
  %half = arith.constant 0.5 : f32
  %three = arith.constant 3 : i64
  %seven = arith.constant 7 : i64
  rows.kernel rows(%rows) columns(%cols) ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>)
      attributes {indexing_maps = [#full, #full]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %yr: !rows.row<f32>):
    %row = arith.index_cast %r : index to i64
    rows.phase [] {
    ^bb0(%j: index):
      %v = rows.load %xr[%j] : !rows.row<f32> -> f32
      %bits = rows.random_half %j seed %seed step %seed row %row site %three
      %n = arith.sitofp %bits : i32 to f32
      %s = arith.mulf %v, %half : f32
      %o = arith.mulf %s, %n : f32
      rows.store %o, %yr[%j] : f32, !rows.row<f32>
    }
  }
  rows.kernel rows(%rows) columns(%cols) ins(%y : memref<?x?xf32>) outs(%x : memref<?x?xf32>)
      attributes {indexing_maps = [#full, #full]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %yr: !rows.row<f32>):
    %row = arith.index_cast %r : index to i64
    rows.phase [] {
    ^bb0(%j: index):
      %v = rows.load %xr[%j] : !rows.row<f32> -> f32
      %bits = rows.random_half %j seed %seed step %seed row %row site %seven
      %n = arith.sitofp %bits : i32 to f32
      %s = arith.mulf %v, %half : f32
      %o = arith.mulf %s, %n : f32
      rows.store %o, %yr[%j] : f32, !rows.row<f32>
    }
  }
  return
}

func.func @second(%x: memref<?x?xf32>, %seed: i64, %rows: index, %cols: index) {
  %half = arith.constant 0.5 : f32
  %three = arith.constant 3 : i64
  rows.kernel rows(%rows) columns(%cols) ins(%x : memref<?x?xf32>) outs(%x : memref<?x?xf32>)
      attributes {indexing_maps = [#full, #full]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %yr: !rows.row<f32>):
    %row = arith.index_cast %r : index to i64
    rows.phase [] {
    ^bb0(%j: index):
      %v = rows.load %xr[%j] : !rows.row<f32> -> f32
      %bits = rows.random_half %j seed %seed step %seed row %row site %three
      %n = arith.sitofp %bits : i32 to f32
      %s = arith.mulf %v, %half : f32
      %o = arith.mulf %s, %n : f32
      rows.store %o, %yr[%j] : f32, !rows.row<f32>
    }
  }
  return
}

// -----

#full = affine_map<(r, c) -> (r, c)>

// Another constant, and two values in place of one, are other code. The fourth kernel runs the tasks of the first.
// CHECK-DAG: func.func private @apart__rows(
// CHECK-DAG: func.func private @apart__rows_0(
// CHECK-DAG: func.func private @apart__rows_1(
// CHECK-COUNT-3: func.func private @apart__task
// CHECK:     func.func @apart(
// CHECK:       call @apart__rows(
// CHECK:       call @apart__rows_0(
// CHECK:       call @apart__rows_1(
// CHECK:       call @apart__rows(
func.func @apart(%context: !llvm.ptr, %x: memref<?x?xf32>, %y: memref<?x?xf32>, %a: f32, %b: f32, %rows: index, %cols: index) {
  %half = arith.constant 0.5 : f32
  %quarter = arith.constant 0.25 : f32
  rows.kernel rows(%rows) columns(%cols) ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>)
      attributes {indexing_maps = [#full, #full]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %yr: !rows.row<f32>):
    rows.phase [] {
    ^bb0(%j: index):
      %v = rows.load %xr[%j] : !rows.row<f32> -> f32
      %s = math.fma %v, %a, %a : f32
      %o = arith.mulf %s, %half : f32
      rows.store %o, %yr[%j] : f32, !rows.row<f32>
    }
  }
  rows.kernel rows(%rows) columns(%cols) ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>)
      attributes {indexing_maps = [#full, #full]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %yr: !rows.row<f32>):
    rows.phase [] {
    ^bb0(%j: index):
      %v = rows.load %xr[%j] : !rows.row<f32> -> f32
      %s = math.fma %v, %a, %b : f32
      %o = arith.mulf %s, %half : f32
      rows.store %o, %yr[%j] : f32, !rows.row<f32>
    }
  }
  rows.kernel rows(%rows) columns(%cols) ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>)
      attributes {indexing_maps = [#full, #full]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %yr: !rows.row<f32>):
    rows.phase [] {
    ^bb0(%j: index):
      %v = rows.load %xr[%j] : !rows.row<f32> -> f32
      %s = math.fma %v, %a, %a : f32
      %o = arith.mulf %s, %quarter : f32
      rows.store %o, %yr[%j] : f32, !rows.row<f32>
    }
  }
  rows.kernel rows(%rows) columns(%cols) ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>)
      attributes {indexing_maps = [#full, #full]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %yr: !rows.row<f32>):
    rows.phase [] {
    ^bb0(%j: index):
      %v = rows.load %xr[%j] : !rows.row<f32> -> f32
      %s = math.fma %v, %b, %b : f32
      %o = arith.mulf %s, %half : f32
      rows.store %o, %yr[%j] : f32, !rows.row<f32>
    }
  }
  return
}

// -----

#full = affine_map<(r, c) -> (r, c)>

// One site twice is not two sites.
// CHECK-DAG: func.func private @twice__rows(
// CHECK-DAG: func.func private @twice__rows_0(
func.func @twice(%x: memref<?x?xf32>, %y: memref<?x?xf32>, %seed: i64, %rows: index, %cols: index) {
  %three = arith.constant 3 : i64
  %seven = arith.constant 7 : i64
  rows.kernel rows(%rows) columns(%cols) ins() outs(%y : memref<?x?xf32>)
      attributes {indexing_maps = [#full]} {
  ^bb0(%r: index, %yr: !rows.row<f32>):
    %row = arith.index_cast %r : index to i64
    rows.phase [] {
    ^bb0(%j: index):
      %a = rows.random_half %j seed %seed step %seed row %row site %three
      %b = rows.random_half %j seed %seed step %row row %row site %three
      %s = arith.addi %a, %b : i32
      %o = arith.sitofp %s : i32 to f32
      rows.store %o, %yr[%j] : f32, !rows.row<f32>
    }
  }
  rows.kernel rows(%rows) columns(%cols) ins() outs(%y : memref<?x?xf32>)
      attributes {indexing_maps = [#full]} {
  ^bb0(%r: index, %yr: !rows.row<f32>):
    %row = arith.index_cast %r : index to i64
    rows.phase [] {
    ^bb0(%j: index):
      %a = rows.random_half %j seed %seed step %seed row %row site %three
      %b = rows.random_half %j seed %seed step %row row %row site %seven
      %s = arith.addi %a, %b : i32
      %o = arith.sitofp %s : i32 to f32
      rows.store %o, %yr[%j] : f32, !rows.row<f32>
    }
  }
  return
}

// -----

#full = affine_map<(r, s, c) -> (r, s, c)>
#any = strided<[?, ?, 1], offset: ?>

// Rows that are known to lie evenly apart are found in another way than others of the same type.
// CHECK-DAG: func.func private @strided__rows(
// CHECK-DAG: func.func private @strided__rows_0(
// CHECK:     func.func @strided(
func.func @strided(%even: memref<?x?x?xf32, #any> {resid.strided}, %other: memref<?x?x?xf32, #any>,
                   %y: memref<?x?x?xf32>, %rows: index, %planes: index, %cols: index) {
  rows.kernel rows(%planes, %rows) columns(%cols) ins(%even, %other : memref<?x?x?xf32, #any>, memref<?x?x?xf32, #any>)
      outs(%y : memref<?x?x?xf32>) attributes {indexing_maps = [#full, #full, #full]} {
  ^bb0(%r: index, %a: !rows.row<f32>, %b: !rows.row<f32>, %yr: !rows.row<f32>):
    rows.phase [] {
    ^bb0(%j: index):
      %v = rows.load %a[%j] : !rows.row<f32> -> f32
      %w = rows.load %b[%j] : !rows.row<f32> -> f32
      %o = arith.subf %v, %w : f32
      rows.store %o, %yr[%j] : f32, !rows.row<f32>
    }
  }
  rows.kernel rows(%planes, %rows) columns(%cols) ins(%other, %even : memref<?x?x?xf32, #any>, memref<?x?x?xf32, #any>)
      outs(%y : memref<?x?x?xf32>) attributes {indexing_maps = [#full, #full, #full]} {
  ^bb0(%r: index, %a: !rows.row<f32>, %b: !rows.row<f32>, %yr: !rows.row<f32>):
    rows.phase [] {
    ^bb0(%j: index):
      %v = rows.load %a[%j] : !rows.row<f32> -> f32
      %w = rows.load %b[%j] : !rows.row<f32> -> f32
      %o = arith.subf %v, %w : f32
      rows.store %o, %yr[%j] : f32, !rows.row<f32>
    }
  }
  return
}
