// The outlined function, its loops, and the tasks of a kernel whose function has a context.
// RUN: resid-opt %s --resid-lower-kernels --split-input-file --verify-diagnostics | FileCheck %s
// RUN: resid-opt %s --resid-lower-kernels="vector-bits=512 masked-bits=16" --split-input-file --verify-diagnostics \
// RUN:   | FileCheck %s --check-prefix=MASKED

#full = affine_map<(r, c) -> (r, c)>

// Bare pointers, captured scalars and the range of rows; constants are made again inside.
// CHECK-LABEL: func.func private @scale__rows(
// CHECK-SAME:      %{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: !llvm.ptr, %[[SCALE:.*]]: f32, %[[LOW:.*]]: i64, %[[HIGH:.*]]: i64)
// CHECK-SAME:      passthrough = ["noinline", "no-builtins", "resid-vector-loops"]
// CHECK:         scf.for %{{.*}} = %[[LOW]] to %[[HIGH]]
// A step: four registers of columns, all loads before the stores; then the columns that are left, fewer than a step.
// CHECK:             %[[FACTOR:.*]] = vector.broadcast %[[SCALE]] : f32 to vector<8xf32>
// CHECK:             scf.for %{{.*}} step %c32_i64
// CHECK-COUNT-4:       llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr -> vector<8xf32>
// CHECK-COUNT-4:       arith.mulf %{{.*}}, %[[FACTOR]] : vector<8xf32>
// CHECK-COUNT-4:       llvm.store %{{.*}} {alignment = 1 : i64} : vector<8xf32>, !llvm.ptr
// CHECK:             } {llvm.loop_annotation = #{{.*}}}
// CHECK:             scf.if
// Without masked access to memory, they go through the stack.
// CHECK:               scf.for %{{.*}} step %c1_i64
// CHECK:                 llvm.load %{{.*}} {alignment = 1 : i64} : !llvm.ptr -> f32
// CHECK-NOT:           llvm.intr.masked
// MASKED-LABEL: func.func private @scale__rows(
// MASKED:            scf.for %{{.*}} step %c64_i64
// MASKED:            scf.if
// MASKED-COUNT-4:      llvm.intr.masked.load %{{.*}} {alignment = 1 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
// MASKED-COUNT-4:      llvm.intr.masked.store
// MASKED:            return

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
// CHECK-LABEL: func.func private @f.impl(
// CHECK-SAME:      %[[CONTEXT:.*]]: !llvm.ptr,
// A task has at least 32,768 elements: 32 rows of 1,024.
// CHECK:         arith.ceildivsi %{{.*}}, %c32_i64{{.*}} : i64
// CHECK:         llvm.getelementptr %[[CONTEXT]][16]
// CHECK:         llvm.call %{{.*}}(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : !llvm.ptr, (!llvm.ptr, i64, !llvm.ptr, !llvm.ptr) -> ()
// CHECK:       } else {
// CHECK:         func.call @f__rows(
func.func private @f.impl(%ctx: !llvm.ptr, %x: memref<?x1024xf32>, %y: memref<?x1024xf32>) {
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
  // expected-error @below {{expected arrays whose last dimension is contiguous in memory, but got one with the strides [?, 2]}}
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

// -----

#full = affine_map<(r, c) -> (r, c)>

// What the vector path cannot take runs on the scalar path, and says so.
// CHECK-LABEL: func.func private @numbered__rows(
// CHECK-NOT:     vector<
func.func @numbered(%x: memref<?x?xf32>, %rows: index, %cols: index, %y: memref<?x?xf32>) {
  // expected-remark @below {{takes the scalar path (bit-exact): the body computes with the column itself}}
  rows.kernel rows(%rows) columns(%cols) ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>)
      attributes {indexing_maps = [#full, #full]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %yr: !rows.row<f32>):
    rows.phase [] {
    ^bb0(%j: index):
      %i = arith.index_cast %j : index to i64
      %o = arith.sitofp %i : i64 to f32
      rows.store %o, %yr[%j] : f32, !rows.row<f32>
    }
  }
  return
}

// -----

#full = affine_map<(r, c) -> (r, c)>

// An absent column would divide by what is not there.
func.func @divides(%x: memref<?x?xf32>, %rows: index, %cols: index, %y: memref<?x?xf32>) {
  // expected-remark @below {{takes the scalar path (bit-exact): 'arith.divsi' must not run for columns that are absent}}
  rows.kernel rows(%rows) columns(%cols) ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>)
      attributes {indexing_maps = [#full, #full]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %yr: !rows.row<f32>):
    %ten = arith.constant 10 : i32
    rows.phase [] {
    ^bb0(%j: index):
      %v = rows.load %xr[%j] : !rows.row<f32> -> f32
      %i = arith.fptosi %v : f32 to i32
      %d = arith.divsi %ten, %i : i32
      %o = arith.sitofp %d : i32 to f32
      rows.store %o, %yr[%j] : f32, !rows.row<f32>
    }
  }
  return
}

// -----

#full = affine_map<(r, c) -> (r, c)>

func.func @row_of_numbers_changes(%x: memref<?x?xf32>, %rows: index, %cols: index, %seed: i64, %y: memref<?x?xf32>) {
  // expected-remark @below {{takes the scalar path (bit-exact): the generator's row, site, step or seed changes along the columns}}
  rows.kernel rows(%rows) columns(%cols) ins(%x : memref<?x?xf32>) outs(%y : memref<?x?xf32>)
      attributes {indexing_maps = [#full, #full]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %yr: !rows.row<f32>):
    rows.phase [] {
    ^bb0(%j: index):
      %v = rows.load %xr[%j] : !rows.row<f32> -> f32
      %row = arith.fptosi %v : f32 to i64
      %h = rows.random_half %j seed %seed step %seed row %row site %seed
      %o = arith.uitofp %h : i32 to f32
      rows.store %o, %yr[%j] : f32, !rows.row<f32>
    }
  }
  return
}

// -----

#full = affine_map<(r, c) -> (r, c)>
%n = arith.constant 4 : index
%x = memref.alloc(%n, %n) : memref<?x?xf32>
// expected-error @+1 {{'rows.kernel' op expected a function around the kernel}}
rows.kernel rows(%n) columns(%n) ins() outs(%x : memref<?x?xf32>) attributes {indexing_maps = [#full]} {
^bb0(%r: index, %xr: !rows.row<f32>):
}

// -----

#full = affine_map<(r, c) -> (r, c)>
func.func @vector_from_above(%v: vector<4xf32>, %rows: index, %cols: index, %y: memref<?x?xf32>) {
  // expected-error @+1 {{'rows.kernel' op expected only scalars from above, but got 'vector<4xf32>'}}
  rows.kernel rows(%rows) columns(%cols) ins() outs(%y : memref<?x?xf32>) attributes {indexing_maps = [#full]} {
  ^bb0(%r: index, %yr: !rows.row<f32>):
    rows.phase [] {
    ^bb0(%j: index):
      %o = vector.extract %v[0] : f32 from vector<4xf32>
      rows.store %o, %yr[%j] : f32, !rows.row<f32>
    }
  }
  return
}

// -----

#full = affine_map<(r, c) -> (r, c)>
func.func @local_row_of_an_open_width(%n: index, %v: f32, %y: memref<?x?xf32>) {
  // expected-error @+1 {{expected local rows of a known width, but got one that is known at run time only}}
  rows.kernel rows(%n) columns(%n) ins() outs(%y : memref<?x?xf32>) attributes {indexing_maps = [#full]} {
  ^bb0(%r: index, %yr: !rows.row<f32>):
    %l = rows.local_row : !rows.row<f32>
    rows.phase [] {
    ^bb0(%j: index):
      rows.store %v, %l[%j] : f32, !rows.row<f32>
    }
  }
  return
}

// -----

#full = affine_map<(r, c) -> (r, c)>
func.func @local_row_without_room(%n: index, %v: f32, %y: memref<?x?xf32>) {
  %c4097 = arith.constant 4097 : index
  // expected-error @+1 {{expected local rows of at most 16384 bytes, but got rows of 4097 columns, 4 bytes each}}
  rows.kernel rows(%n) columns(%c4097) ins() outs(%y : memref<?x?xf32>) attributes {indexing_maps = [#full]} {
  ^bb0(%r: index, %yr: !rows.row<f32>):
    %l = rows.local_row : !rows.row<f32>
    rows.phase [] {
    ^bb0(%j: index):
      rows.store %v, %l[%j] : f32, !rows.row<f32>
    }
  }
  return
}
