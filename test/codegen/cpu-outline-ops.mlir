// linalg ops become functions, one for all that are equal, whose pointers say what does not overlap. So do kernels of which
// there are several.
// RUN: resid-opt %s --resid-outline-ops --split-input-file | FileCheck %s

// Two equal ops on temporaries that one op is given together, an argument that overlaps nothing, and one that may.
// CHECK-LABEL: func.func private @layers__loops(
// CHECK-SAME:    %[[X:.*]]: !llvm.ptr {llvm.noalias}, %[[W:.*]]: !llvm.ptr {llvm.noalias}, %[[Y:.*]]: !llvm.ptr {llvm.noalias}, %[[SIZE:.*]]: i64)
// CHECK-SAME:    passthrough = ["noinline"]
// CHECK:         %[[N:.*]] = arith.index_cast %[[SIZE]] : i64 to index
// CHECK-DAG:     %[[A:.*]] = builtin.unrealized_conversion_cast %[[X]], %[[N]] : !llvm.ptr, index to memref<?x8xf32>
// CHECK-DAG:     %[[B:.*]] = builtin.unrealized_conversion_cast %[[W]] : !llvm.ptr to memref<8x8xf32>
// CHECK-DAG:     %[[C:.*]] = builtin.unrealized_conversion_cast %[[Y]], %[[N]] : !llvm.ptr, index to memref<?x8xf32>
// CHECK:         linalg.matmul ins(%[[A]], %[[B]] : {{.*}}) outs(%[[C]] : {{.*}})
// CHECK-NEXT:    return
// CHECK-LABEL: func.func private @layers.impl(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: !llvm.ptr, %[[W:[a-z0-9]+]]: !llvm.ptr, %[[OUT:[a-z0-9]+]]: !llvm.ptr {llvm.noalias}, %[[SCRATCH:[a-z0-9]+]]: !llvm.ptr {llvm.noalias}, %[[N:[a-z0-9]+]]: index
// CHECK-NOT:     memref
// CHECK:         %[[FIRST:.*]] = llvm.getelementptr inbounds %[[SCRATCH]][%{{.*}}] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK:         call @layers__loops(%[[X]], %[[W]], %[[FIRST]], %{{.*}})
// CHECK:         call @layers__loops(%{{.*}}, %[[W]], %{{.*}}, %{{.*}})
// CHECK:         call @layers__loops(%{{.*}}, %[[W]], %[[OUT]], %{{.*}})
// CHECK-NEXT:    return
func.func private @layers.impl(%x: !llvm.ptr, %w: !llvm.ptr, %out: !llvm.ptr {llvm.noalias}, %scratch: !llvm.ptr {llvm.noalias}, %n: index, %bytes: index) {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %xb = builtin.unrealized_conversion_cast %x, %n : !llvm.ptr, index to memref<?x8xf32>
  %wb = builtin.unrealized_conversion_cast %w : !llvm.ptr to memref<8x8xf32>
  %ob = builtin.unrealized_conversion_cast %out, %n : !llvm.ptr, index to memref<?x8xf32>
  %sb = builtin.unrealized_conversion_cast %scratch, %bytes : !llvm.ptr, index to memref<?xi8>
  %a = memref.view %sb[%c0][%n] {rows.temporary} : memref<?xi8> to memref<?x8xf32>
  %b = memref.view %sb[%c64][%n] {rows.temporary} : memref<?xi8> to memref<?x8xf32>
  linalg.matmul ins(%xb, %wb : memref<?x8xf32>, memref<8x8xf32>) outs(%a : memref<?x8xf32>)
  linalg.matmul ins(%a, %wb : memref<?x8xf32>, memref<8x8xf32>) outs(%b : memref<?x8xf32>)
  linalg.matmul ins(%b, %wb : memref<?x8xf32>, memref<8x8xf32>) outs(%ob : memref<?x8xf32>)
  return
}

// -----

// What is not known to be apart: two arguments, a view and its buffer, a temporary and the memory that it lies in. What is
// only read may overlap; a buffer that is written in place is one pointer.
// CHECK-LABEL: func.func private @overlaps__loops(
// CHECK-SAME:    %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr) attributes
// CHECK:         linalg.exp
// CHECK-LABEL: func.func private @overlaps__loops_0(
// CHECK-SAME:    %{{.*}}: !llvm.ptr {llvm.noalias}) attributes
// CHECK:         linalg.exp ins(%[[SAME:.*]] : memref<8xf32>) outs(%[[SAME]] : memref<8xf32>)
// CHECK-LABEL: func.func private @overlaps__loops_1(
// CHECK-SAME:    %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.noalias}) attributes
// CHECK:         linalg.add
// CHECK-LABEL: func.func private @overlaps__loops_2(
// CHECK-SAME:    %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr) attributes
// CHECK:         linalg.exp ins(%{{.*}} : memref<4xf32, strided<[1]>>) outs(%{{.*}} : memref<4xf32, strided<[1]>>)
// CHECK-LABEL: func.func private @overlaps.impl(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: !llvm.ptr, %[[Y:[a-z0-9]+]]: !llvm.ptr, %[[OUT:[a-z0-9]+]]: !llvm.ptr {llvm.noalias}
// CHECK:         call @overlaps__loops(%[[X]], %[[Y]])
// CHECK:         call @overlaps__loops_0(%[[OUT]])
// CHECK:         call @overlaps__loops_1(%[[X]], %[[Y]], %[[OUT]])
// CHECK:         call @overlaps__loops_2(
// CHECK:         call @overlaps__loops(%{{.*}}, %[[OUT]])
func.func private @overlaps.impl(%x: !llvm.ptr, %y: !llvm.ptr, %out: !llvm.ptr {llvm.noalias}) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %xb = builtin.unrealized_conversion_cast %x : !llvm.ptr to memref<8xf32>
  %yb = builtin.unrealized_conversion_cast %y : !llvm.ptr to memref<8xf32>
  %ob = builtin.unrealized_conversion_cast %out : !llvm.ptr to memref<8xf32>
  %bytes = builtin.unrealized_conversion_cast %out, %c32 : !llvm.ptr, index to memref<?xi8>
  %part = memref.view %bytes[%c0][] {rows.temporary} : memref<?xi8> to memref<8xf32>
  linalg.exp ins(%xb : memref<8xf32>) outs(%yb : memref<8xf32>)
  linalg.exp ins(%ob : memref<8xf32>) outs(%ob : memref<8xf32>)
  linalg.add ins(%xb, %yb : memref<8xf32>, memref<8xf32>) outs(%ob : memref<8xf32>)
  %low = memref.subview %ob[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  %high = memref.subview %ob[2] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 2>>
  linalg.exp ins(%low : memref<4xf32, strided<[1]>>) outs(%high : memref<4xf32, strided<[1], offset: 2>>)
  linalg.exp ins(%part : memref<8xf32>) outs(%ob : memref<8xf32>)
  return
}

// -----

// Views of one buffer's beginning are one pointer, whatever their shapes. Slices are equal wherever they begin: query, key
// and value side by side.
// CHECK-LABEL: func.func private @slices__loops(
// CHECK-SAME:    %[[P:.*]]: !llvm.ptr {llvm.noalias}, %[[Q:.*]]: !llvm.ptr {llvm.noalias}, %[[SIZE:.*]]: i64) attributes
// CHECK:         %[[N:.*]] = arith.index_cast %[[SIZE]] : i64 to index
// CHECK:         %[[ELEMENT:.*]] = builtin.unrealized_conversion_cast %[[P]] : !llvm.ptr to memref<f32>
// CHECK:         memref.reinterpret_cast %[[ELEMENT]] to offset: [0], sizes: [%[[N]], 8], strides: [24, 1] : memref<f32> to memref<?x8xf32, strided<[24, 1]>>
// CHECK:         linalg.exp
// CHECK-LABEL: func.func private @slices__loops_0(
// CHECK-SAME:    %[[P:[a-z0-9]+]]: !llvm.ptr {llvm.noalias}, %[[ROWS:[a-z0-9]+]]: i64, %[[PAIRS:[a-z0-9]+]]: i64) attributes
// CHECK-DAG:     %[[N:.*]] = arith.index_cast %[[ROWS]] : i64 to index
// CHECK-DAG:     %[[M:.*]] = arith.index_cast %[[PAIRS]] : i64 to index
// CHECK-DAG:     builtin.unrealized_conversion_cast %[[P]], %[[N]] : !llvm.ptr, index to memref<?x8xf32>
// CHECK-DAG:     builtin.unrealized_conversion_cast %[[P]], %[[M]] : !llvm.ptr, index to memref<?x2x4xf32>
// CHECK-LABEL: func.func private @slices.impl(
// CHECK-COUNT-3: call @slices__loops(
// CHECK:         call @slices__loops_0(
func.func private @slices.impl(%x: !llvm.ptr, %out: !llvm.ptr {llvm.noalias}, %n: index) {
  %xb = builtin.unrealized_conversion_cast %x, %n : !llvm.ptr, index to memref<?x24xf32>
  %ob = builtin.unrealized_conversion_cast %out, %n : !llvm.ptr, index to memref<?x8xf32>
  %q = memref.subview %xb[0, 0] [%n, 8] [1, 1] : memref<?x24xf32> to memref<?x8xf32, strided<[24, 1]>>
  %k = memref.subview %xb[0, 8] [%n, 8] [1, 1] : memref<?x24xf32> to memref<?x8xf32, strided<[24, 1], offset: 8>>
  %v = memref.subview %xb[0, 16] [%n, 8] [1, 1] : memref<?x24xf32> to memref<?x8xf32, strided<[24, 1], offset: 16>>
  linalg.exp ins(%q : memref<?x8xf32, strided<[24, 1]>>) outs(%ob : memref<?x8xf32>)
  linalg.exp ins(%k : memref<?x8xf32, strided<[24, 1], offset: 8>>) outs(%ob : memref<?x8xf32>)
  linalg.exp ins(%v : memref<?x8xf32, strided<[24, 1], offset: 16>>) outs(%ob : memref<?x8xf32>)
  %heads = memref.expand_shape %ob [[0], [1, 2]] output_shape [%n, 2, 4] : memref<?x8xf32> into memref<?x2x4xf32>
  linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r, 0, 1)>],
      iterator_types = ["parallel", "parallel"]} ins(%ob : memref<?x8xf32>) outs(%heads : memref<?x2x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

// Constants are made again in the function, and tell functions apart. Scalars are arguments, those of 16 bits as integers.
// A region may read other buffers. Ops without loops stay where they are.
// CHECK-LABEL: func.func private @values__loops(
// CHECK-SAME:    %[[OUT:.*]]: !llvm.ptr {llvm.noalias}) attributes
// CHECK:         %[[ONE:.*]] = arith.constant 1.000000e+00 : f32
// CHECK:         linalg.fill ins(%[[ONE]] : f32)
// CHECK-LABEL: func.func private @values__loops_0(
// CHECK:         %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// CHECK-LABEL: func.func private @values__loops_1(
// CHECK-SAME:    %[[OUT:.*]]: !llvm.ptr {llvm.noalias}, %[[V:.*]]: i16) attributes
// CHECK:         %[[SCALAR:.*]] = arith.bitcast %[[V]] : i16 to bf16
// CHECK:         linalg.fill ins(%[[SCALAR]] : bf16)
// CHECK-LABEL: func.func private @values__loops_2(
// CHECK-SAME:    %[[OUT:.*]]: !llvm.ptr {llvm.noalias}, %[[TABLE:.*]]: !llvm.ptr {llvm.noalias}) attributes
// CHECK:         memref.load
// CHECK-LABEL: func.func private @values.impl(
// CHECK:         call @values__loops(
// CHECK:         call @values__loops_0(
// CHECK:         call @values__loops(
// CHECK:         call @values__loops_1(
// CHECK:         call @values__loops_2(
// CHECK:         linalg.fill ins(%{{.*}} : f32) outs(%{{.*}} : memref<f32>)
func.func private @values.impl(%x: !llvm.ptr, %out: !llvm.ptr {llvm.noalias}, %v: bf16) {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %xb = builtin.unrealized_conversion_cast %x : !llvm.ptr to memref<8xf32>
  %ob = builtin.unrealized_conversion_cast %out : !llvm.ptr to memref<8xf32>
  %nb = builtin.unrealized_conversion_cast %out : !llvm.ptr to memref<8xbf16>
  %eb = builtin.unrealized_conversion_cast %out : !llvm.ptr to memref<f32>
  linalg.fill ins(%one : f32) outs(%ob : memref<8xf32>)
  linalg.fill ins(%two : f32) outs(%ob : memref<8xf32>)
  linalg.fill ins(%one : f32) outs(%ob : memref<8xf32>)
  linalg.fill ins(%v : bf16) outs(%nb : memref<8xbf16>)
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%ob : memref<8xf32>) {
  ^bb0(%a: f32):
    %i = linalg.index 0 : index
    %e = memref.load %xb[%i] : memref<8xf32>
    linalg.yield %e : f32
  }
  linalg.fill ins(%one : f32) outs(%eb : memref<f32>)
  return
}

// -----

// Layers that differ in the number of a dropout site, which is an argument. Both write temporaries; the last one writes what
// the caller reads, and another function says so. Kernels that stand alone stay.
// CHECK-LABEL: func.func private @dropped__kernel(
// CHECK-SAME:    %{{[a-z0-9]+}}: !llvm.ptr, %[[X:[a-z0-9]+]]: !llvm.ptr {rows.temporary}, %[[ROWS:[a-z0-9]+]]: i64, %[[SITE:[a-z0-9]+]]: i64) attributes
// CHECK:         %[[N:.*]] = arith.index_cast %[[ROWS]] : i64 to index
// CHECK:         %[[HALF:.*]] = arith.constant 5.000000e-01 : f32
// CHECK:         rows.kernel rows(%[[N]])
// CHECK:           rows.random_half %{{.*}} seed %{{.*}} step %{{.*}} row %{{.*}} site %[[SITE]]
// CHECK:           arith.mulf %{{.*}}, %[[HALF]]
// CHECK-LABEL: func.func private @dropped.impl(
// CHECK-SAME:    %[[CTX:[a-z0-9]+]]: !llvm.ptr, %{{[a-z0-9]+}}: !llvm.ptr, %[[N:[a-z0-9]+]]: index, %[[BYTES:[a-z0-9]+]]: index)
// CHECK:         call @dropped__kernel(%[[CTX]], %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %c3_i64)
// CHECK:         call @dropped__kernel(%[[CTX]], %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %c7_i64)
// CHECK:         rows.kernel
#row = affine_map<(r, c) -> (r, c)>
func.func private @dropped.impl(%ctx: !llvm.ptr, %x: !llvm.ptr, %n: index, %bytes: index) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %half = arith.constant 0.5 : f32
  %zero = arith.constant 0 : i64
  %three = arith.constant 3 : i64
  %seven = arith.constant 7 : i64
  %all = builtin.unrealized_conversion_cast %x, %bytes : !llvm.ptr, index to memref<?xi8>
  %t = memref.view %all[%c0][%n] {rows.temporary} : memref<?xi8> to memref<?x8xf32>
  %out = builtin.unrealized_conversion_cast %x, %n : !llvm.ptr, index to memref<?x8xf32>
  rows.kernel rows(%n) columns(%c8) ins(%t : memref<?x8xf32>) outs(%t : memref<?x8xf32>) attributes {indexing_maps = [#row, #row]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %yr: !rows.row<f32>):
    %row = arith.index_cast %r : index to i64
    rows.phase [] {
    ^bb0(%j: index):
      %v = rows.load %xr[%j] : !rows.row<f32> -> f32
      %bits = rows.random_half %j seed %zero step %zero row %row site %three
      %k = arith.sitofp %bits : i32 to f32
      %s = arith.mulf %v, %half : f32
      %o = arith.mulf %s, %k : f32
      rows.store %o, %yr[%j] : f32, !rows.row<f32>
    }
  }
  rows.kernel rows(%n) columns(%c8) ins(%t : memref<?x8xf32>) outs(%t : memref<?x8xf32>) attributes {indexing_maps = [#row, #row]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %yr: !rows.row<f32>):
    %row = arith.index_cast %r : index to i64
    rows.phase [] {
    ^bb0(%j: index):
      %v = rows.load %xr[%j] : !rows.row<f32> -> f32
      %bits = rows.random_half %j seed %zero step %zero row %row site %seven
      %k = arith.sitofp %bits : i32 to f32
      %s = arith.mulf %v, %half : f32
      %o = arith.mulf %s, %k : f32
      rows.store %o, %yr[%j] : f32, !rows.row<f32>
    }
  }
  rows.kernel rows(%n) columns(%c8) ins(%out : memref<?x8xf32>) outs(%out : memref<?x8xf32>) attributes {indexing_maps = [#row, #row]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %yr: !rows.row<f32>):
    %row = arith.index_cast %r : index to i64
    rows.phase [] {
    ^bb0(%j: index):
      %v = rows.load %xr[%j] : !rows.row<f32> -> f32
      %bits = rows.random_half %j seed %zero step %zero row %row site %three
      %k = arith.sitofp %bits : i32 to f32
      %s = arith.mulf %v, %half : f32
      %o = arith.mulf %s, %k : f32
      rows.store %o, %yr[%j] : f32, !rows.row<f32>
    }
  }
  return
}

// -----

// Arrays whose rows lie apart keep the distance of rows that they were made with: a kernel goes through three dimensions as
// through one. Contractions are kernels too.
// CHECK-LABEL: func.func private @apart__kernel(
// CHECK-SAME:    %{{[a-z0-9]+}}: !llvm.ptr, %[[X:[a-z0-9]+]]: !llvm.ptr, %[[SIZE:[a-z0-9]+]]: i64, %[[STRIDE:[a-z0-9]+]]: i64) attributes
// CHECK:         %[[N:.*]] = arith.index_cast %[[SIZE]] : i64 to index
// CHECK:         builtin.unrealized_conversion_cast %[[X]], %[[N]], %[[STRIDE]] : !llvm.ptr, index, i64 to memref<2x?x8xf32, strided<[?, ?, 1]>>
// CHECK:         rows.kernel
// CHECK-LABEL: func.func private @apart__kernel_0(
// CHECK:         contraction.kernel
// CHECK-LABEL: func.func private @apart.impl(
// CHECK-SAME:    %[[CTX:[a-z0-9]+]]: !llvm.ptr, %[[X:[a-z0-9]+]]: !llvm.ptr, %[[STRIDE:[a-z0-9]+]]: i64, %[[N:[a-z0-9]+]]: index, %[[W:[a-z0-9]+]]: !llvm.ptr, %[[OUT:[a-z0-9]+]]: !llvm.ptr)
// CHECK:         call @apart__kernel(%[[CTX]], %[[X]], %{{[a-z0-9]+}}, %[[STRIDE]])
// CHECK:         call @apart__kernel(%[[CTX]], %[[X]], %{{[a-z0-9]+}}, %[[STRIDE]])
// CHECK:         call @apart__kernel_0(%[[CTX]], %[[W]], %[[OUT]])
// CHECK:         call @apart__kernel_0(%[[CTX]], %[[W]], %[[OUT]])
// CHECK-NEXT:    return
#whole = affine_map<(a, r, c) -> (a, r, c)>
#left = affine_map<(i, j, k) -> (i, k)>
#right = affine_map<(i, j, k) -> (k, j)>
#product = affine_map<(i, j, k) -> (i, j)>
func.func private @apart.impl(%ctx: !llvm.ptr, %x: !llvm.ptr, %stride: i64, %n: index, %w: !llvm.ptr, %out: !llvm.ptr) {
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %b = builtin.unrealized_conversion_cast %x, %n, %stride : !llvm.ptr, index, i64 to memref<2x?x8xf32, strided<[?, ?, 1]>>
  %wb = builtin.unrealized_conversion_cast %w : !llvm.ptr to memref<8x8xf32>
  %ob = builtin.unrealized_conversion_cast %out : !llvm.ptr to memref<8x8xf32>
  rows.kernel rows(%c2, %n) columns(%c8) ins(%b : memref<2x?x8xf32, strided<[?, ?, 1]>>) outs(%b : memref<2x?x8xf32, strided<[?, ?, 1]>>)
      attributes {indexing_maps = [#whole, #whole]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %yr: !rows.row<f32>):
    rows.phase [] {
    ^bb0(%j: index):
      %v = rows.load %xr[%j] : !rows.row<f32> -> f32
      rows.store %v, %yr[%j] : f32, !rows.row<f32>
    }
  }
  rows.kernel rows(%c2, %n) columns(%c8) ins(%b : memref<2x?x8xf32, strided<[?, ?, 1]>>) outs(%b : memref<2x?x8xf32, strided<[?, ?, 1]>>)
      attributes {indexing_maps = [#whole, #whole]} {
  ^bb0(%r: index, %xr: !rows.row<f32>, %yr: !rows.row<f32>):
    rows.phase [] {
    ^bb0(%j: index):
      %v = rows.load %xr[%j] : !rows.row<f32> -> f32
      rows.store %v, %yr[%j] : f32, !rows.row<f32>
    }
  }
  contraction.kernel a(%wb : memref<8x8xf32>) b(%wb : memref<8x8xf32>) start(%zero : f32) outs(%ob : memref<8x8xf32>)
      attributes {indexing_maps = [#left, #right, #product], parallel_loops = 2 : i64} {
  ^bb0(%p: f32):
    contraction.yield %p : f32
  }
  contraction.kernel a(%wb : memref<8x8xf32>) b(%wb : memref<8x8xf32>) start(%zero : f32) outs(%ob : memref<8x8xf32>)
      attributes {indexing_maps = [#left, #right, #product], parallel_loops = 2 : i64} {
  ^bb0(%p: f32):
    contraction.yield %p : f32
  }
  return
}
