// RUN: resid-opt %s --allow-unregistered-dialect --resid-plan-scratch --canonicalize --cse --split-input-file --verify-diagnostics | FileCheck %s

// Two temporaries that are alive together, one after the other, each rounded up to 64 bytes; the block comes before the status cell.
// CHECK-LABEL: func.func private @two.scratch(%{{.*}}: i64) -> i64
// CHECK:         arith.mului_extended
// CHECK:         %[[TOTAL:.*]] = arith.select %{{.*}}, %c-2_i64, %{{.*}} : i64
// CHECK:         return %[[TOTAL]]
// CHECK-LABEL: func.func private @two.impl(
// CHECK-SAME:    %{{.*}}: !llvm.ptr, %[[X:[a-z0-9]+]]: memref<?x8xf32>, %{{.*}}: memref<?x8xf32>, %[[SCRATCH:[a-z0-9]+]]: memref<?xi8>, %{{.*}}: memref<i32>)
// CHECK-SAME:    resid.scratch = @two.scratch
// CHECK:         %[[ROWS:.*]] = memref.dim %[[X]]
// CHECK:         %[[BYTES:.*]] = arith.muli %[[ROWS]], %c32
// CHECK:         %[[RAISED:.*]] = arith.addi %[[BYTES]], %c63
// CHECK:         %[[OFFSET:.*]] = arith.andi %[[RAISED]], %c-64
// CHECK:         %[[FIRST:.*]] = memref.view %[[SCRATCH]][%c0][%[[ROWS]]] {rows.temporary} : memref<?xi8> to memref<?x8xf32>
// CHECK:         %[[SECOND:.*]] = memref.view %[[SCRATCH]][%[[OFFSET]]][%[[ROWS]]] {rows.temporary} : memref<?xi8> to memref<?x8xbf16>
// CHECK-NOT:     memref.alloc
// CHECK:         "test.use"(%[[FIRST]], %[[SECOND]])
#two = {arguments = [{name = "x", shape = array<i64: -1, 8>, type = tensor<?x8xf32>}], in_place = [],
        results = [{name = "out0", shape = array<i64: -1, 8>, type = tensor<?x8xf32>}],
        sizes = [{argument = 0 : i64, dimension = 0 : i64, fixed = -1 : i64, name = "x_dim0", same_as = 0 : i64}],
        symbol = "two", type = ""}
func.func private @two.impl(%ctx: !llvm.ptr, %x: memref<?x8xf32>, %out: memref<?x8xf32>, %status: memref<i32>)
    attributes {resid.signature = #two} {
  %c0 = arith.constant 0 : index
  %rows = memref.dim %x, %c0 : memref<?x8xf32>
  %a = memref.alloc(%rows) : memref<?x8xf32>
  %again = memref.dim %a, %c0 : memref<?x8xf32>
  %b = memref.alloc(%again) : memref<?x8xbf16>
  "test.use"(%a, %b) : (memref<?x8xf32>, memref<?x8xbf16>) -> ()
  memref.dealloc %a : memref<?x8xf32>
  return
}

// -----

// A small static temporary goes to the stack, so there is no scratch memory.
// CHECK-NOT:   .scratch
// CHECK-LABEL: func.func private @small.impl(
// CHECK-NOT:     memref<?xi8>
// CHECK:         memref.alloca() {alignment = 64 : i64} : memref<16xf32>
#small = {arguments = [], in_place = [], results = [], sizes = [], symbol = "small", type = ""}
func.func private @small.impl(%ctx: !llvm.ptr, %status: memref<i32>) attributes {resid.signature = #small} {
  %a = memref.alloc() : memref<16xf32>
  "test.use"(%a) : (memref<16xf32>) -> ()
  return
}

// -----

#unknown = {arguments = [{name = "n", type = index}], in_place = [], results = [], sizes = [], symbol = "unknown", type = ""}
func.func private @unknown.impl(%ctx: !llvm.ptr, %n: index, %status: memref<i32>) attributes {resid.signature = #unknown} {
  // expected-error @+1 {{the size of a temporary does not follow from the sizes of the arguments}}
  %a = memref.alloc(%n) : memref<?xf32>
  "test.use"(%a) : (memref<?xf32>) -> ()
  return
}

// -----

// Sizes are followed through views: of a collapsed dimension the product, of an expanded one the given size, of a slice the
// size among those that it keeps.
// CHECK-LABEL: func.func private @views.impl(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<2x?x?xf32>
// CHECK:         %[[DIM1:.*]] = memref.dim %[[X]], %c1
// CHECK:         %[[SIZE1:.*]] = arith.index_cast %[[DIM1]] : index to i64
// CHECK:         %[[PRODUCT:.*]] = arith.muli %[[SIZE1]], %c2{{.*}} : i64
// CHECK:         %[[ROWS:.*]] = arith.index_cast %[[PRODUCT]] : i64 to index
// CHECK:         %[[DIM2:.*]] = memref.dim %[[X]], %c2
// CHECK:         memref.view %{{.*}}[%{{.*}}][%[[ROWS]]] {rows.temporary} : memref<?xi8> to memref<?x3xf32>
// CHECK:         memref.view %{{.*}}[%{{.*}}][%[[DIM2]]] {rows.temporary} : memref<?xi8> to memref<?xf32>
// CHECK:         memref.view %{{.*}}[%{{.*}}][%[[ROWS]]] {rows.temporary} : memref<?xi8> to memref<?x5xf32>
#views = {arguments = [{name = "x", shape = array<i64: 2, -1, -2>, type = tensor<2x?x?xf32>}], in_place = [], results = [],
          sizes = [{argument = 0 : i64, dimension = 1 : i64, fixed = -1 : i64, name = "x_dim1", same_as = 0 : i64},
                   {argument = 0 : i64, dimension = 2 : i64, fixed = -1 : i64, name = "x_dim2", same_as = 1 : i64}],
          symbol = "views", type = ""}
func.func private @views.impl(%ctx: !llvm.ptr, %x: memref<2x?x?xf32>, %status: memref<i32>) attributes {resid.signature = #views} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %rows = memref.collapse_shape %x [[0, 1], [2]] : memref<2x?x?xf32> into memref<?x?xf32>
  %row_count = memref.dim %rows, %c0 : memref<?x?xf32>
  %a = memref.alloc(%row_count) : memref<?x3xf32>
  %columns = memref.dim %x, %c2 : memref<2x?x?xf32>
  %slice = memref.subview %x[0, 0, 0] [1, 1, %columns] [1, 1, 1] : memref<2x?x?xf32> to memref<1x?xf32, strided<[?, 1]>>
  %slice_size = memref.dim %slice, %c1 : memref<1x?xf32, strided<[?, 1]>>
  %b = memref.alloc(%slice_size) : memref<?xf32>
  %expanded = memref.expand_shape %a [[0, 1], [2]] output_shape [1, %row_count, 3] : memref<?x3xf32> into memref<1x?x3xf32>
  %cast = memref.cast %expanded : memref<1x?x3xf32> to memref<?x?x3xf32>
  %cast_size = memref.dim %cast, %c1 : memref<?x?x3xf32>
  %c = memref.alloc(%cast_size) : memref<?x5xf32>
  "test.use"(%a, %b, %c) : (memref<?x3xf32>, memref<?xf32>, memref<?x5xf32>) -> ()
  return
}

// -----

#layout = {arguments = [], in_place = [], results = [], sizes = [], symbol = "layout", type = ""}
func.func private @layout.impl(%ctx: !llvm.ptr, %status: memref<i32>) attributes {resid.signature = #layout} {
  // expected-error @+1 {{a temporary of type 'tensor<4x4xf32>' is not available: expected a contiguous layout}}
  %a = memref.alloc() : memref<4x4xf32, strided<[8, 1]>>
  "test.use"(%a) : (memref<4x4xf32, strided<[8, 1]>>) -> ()
  return
}

// -----

#large = {arguments = [], in_place = [], results = [], sizes = [], symbol = "large", type = ""}
func.func private @large.impl(%ctx: !llvm.ptr, %status: memref<i32>) attributes {resid.signature = #large} {
  // expected-error @+1 {{expected a temporary of at most 2^47 bytes, but got 'tensor<1099511627776x1024xf32>'}}
  %a = memref.alloc() : memref<1099511627776x1024xf32>
  "test.use"(%a) : (memref<1099511627776x1024xf32>) -> ()
  return
}

// -----

// Which of two temporaries a loop carries is not known before it runs.
#carried = {arguments = [{name = "x", shape = array<i64: -1, 8>, type = tensor<?x8xf32>}], in_place = [],
        results = [{name = "out0", shape = array<i64: -1, 8>, type = tensor<?x8xf32>}],
        sizes = [{argument = 0 : i64, dimension = 0 : i64, fixed = -1 : i64, name = "x_dim0", same_as = 0 : i64}],
        symbol = "carried", type = ""}
func.func private @carried.impl(%ctx: !llvm.ptr, %x: memref<?x8xf32>, %out: memref<?x8xf32>, %status: memref<i32>)
    attributes {resid.signature = #carried} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = memref.dim %x, %c0 : memref<?x8xf32>
  %first = memref.alloc(%rows) : memref<?x8xf32>
  %last = scf.for %i = %c0 to %rows step %c1 iter_args(%before = %first) -> (memref<?x8xf32>) {
    // expected-error @+1 {{a temporary that a loop carries to its next iteration is not available}}
    %next = memref.alloc(%rows) : memref<?x8xf32>
    "test.use"(%before, %next) : (memref<?x8xf32>, memref<?x8xf32>) -> ()
    scf.yield %next : memref<?x8xf32>
  }
  "test.use"(%last) : (memref<?x8xf32>) -> ()
  return
}

// -----

// What is not alive at the same time shares memory: the third temporary lies where the first was, and the fourth in a part
// of it. An operation that reads one temporary and writes another needs both.
// CHECK-LABEL: func.func private @chain.scratch() -> i64
// CHECK:         return %c8192_i64
// CHECK-LABEL: func.func private @chain.impl(
// CHECK-DAG:     %[[A:.*]] = memref.view %{{.*}}[%c0][] {rows.temporary} : memref<?xi8> to memref<1024xf32>
// CHECK-DAG:     %[[B:.*]] = memref.view %{{.*}}[%c4096][] {rows.temporary} : memref<?xi8> to memref<1024xf32>
// CHECK-DAG:     %[[D:.*]] = memref.view %{{.*}}[%c4096][] {rows.temporary} : memref<?xi8> to memref<512xf32>
// CHECK:         "test.use"(%[[A]])
// CHECK-NEXT:    "test.use"(%[[A]], %[[B]])
// CHECK-NEXT:    "test.use"(%[[B]], %[[A]])
// CHECK-NEXT:    "test.use"(%[[A]], %[[D]])
#chain = {arguments = [], in_place = [], results = [], sizes = [], symbol = "chain", type = ""}
func.func private @chain.impl(%ctx: !llvm.ptr, %status: memref<i32>) attributes {resid.signature = #chain} {
  %a = memref.alloc() : memref<1024xf32>
  %b = memref.alloc() : memref<1024xf32>
  %c = memref.alloc() : memref<1024xf32>
  %d = memref.alloc() : memref<512xf32>
  "test.use"(%a) : (memref<1024xf32>) -> ()
  "test.use"(%a, %b) : (memref<1024xf32>, memref<1024xf32>) -> ()
  "test.use"(%b, %c) : (memref<1024xf32>, memref<1024xf32>) -> ()
  "test.use"(%c, %d) : (memref<1024xf32>, memref<512xf32>) -> ()
  return
}

// -----

// Where temporaries are made does not matter, only where they are used. Views and names that a branch or a choice gives
// them count as the temporaries themselves.
// CHECK-LABEL: func.func private @names.scratch() -> i64
// CHECK:         return %c20480_i64
#names = {arguments = [{name = "n", type = i1}], in_place = [], results = [], sizes = [], symbol = "names", type = ""}
func.func private @names.impl(%ctx: !llvm.ptr, %n: i1, %status: memref<i32>) attributes {resid.signature = #names} {
  %a = memref.alloc() : memref<1024xf32>
  %b = memref.alloc() : memref<1024xf32>
  %c = memref.alloc() : memref<1024xf32>
  %d = memref.alloc() : memref<1024xf32>
  %rows = memref.expand_shape %a [[0, 1]] output_shape [4, 256] : memref<1024xf32> into memref<4x256xf32>
  %row = memref.subview %rows[1, 0] [1, 256] [1, 1] : memref<4x256xf32> to memref<256xf32, strided<[1], offset: 256>>
  %one = arith.select %n, %b, %c : memref<1024xf32>
  "test.use"(%a, %b) : (memref<1024xf32>, memref<1024xf32>) -> ()
  "test.use"(%c) : (memref<1024xf32>) -> ()
  %made = scf.if %n -> memref<1024xf32> {
    "test.use"(%d) : (memref<1024xf32>) -> ()
    scf.yield %d : memref<1024xf32>
  } else {
    %e = memref.alloc() : memref<1024xf32>
    "test.use"(%e) : (memref<1024xf32>) -> ()
    scf.yield %e : memref<1024xf32>
  }
  "test.use"(%row, %one, %made) : (memref<256xf32, strided<[1], offset: 256>>, memref<1024xf32>, memref<1024xf32>) -> ()
  return
}

// -----

// What one branch works in, the other may; and what follows them both.
// CHECK-LABEL: func.func private @branches.scratch() -> i64
// CHECK:         return %c4096_i64
#branches = {arguments = [{name = "n", type = i1}], in_place = [], results = [], sizes = [], symbol = "branches", type = ""}
func.func private @branches.impl(%ctx: !llvm.ptr, %n: i1, %status: memref<i32>) attributes {resid.signature = #branches} {
  %a = memref.alloc() : memref<1024xf32>
  %b = memref.alloc() : memref<1024xf32>
  %c = memref.alloc() : memref<1024xf32>
  scf.if %n {
    "test.use"(%a) : (memref<1024xf32>) -> ()
    "test.use"(%a) : (memref<1024xf32>) -> ()
  } else {
    "test.use"(%b) : (memref<1024xf32>) -> ()
    "test.use"(%b) : (memref<1024xf32>) -> ()
  }
  "test.use"(%c) : (memref<1024xf32>) -> ()
  return
}

// -----

// A loop comes back to its beginning: what was made before it keeps its place all through it, even if one iteration
// stores to it before it reads. What is made in an iteration lives no longer than that.
// CHECK-LABEL: func.func private @loop.scratch() -> i64
// CHECK:         return %c12288_i64
// CHECK-LABEL: func.func private @loop.impl(
// CHECK-DAG:     %[[BEFORE:.*]] = memref.view %{{.*}}[%c0][] {rows.temporary} : memref<?xi8> to memref<1024xf32>
// CHECK-DAG:     %[[KEPT:.*]] = memref.view %{{.*}}[%c4096][] {rows.temporary} : memref<?xi8> to memref<1024xf32>
// CHECK-DAG:     %[[MADE:.*]] = memref.view %{{.*}}[%c8192][] {rows.temporary} : memref<?xi8> to memref<1024xf32>
// CHECK:         scf.for
// CHECK-NEXT:      "test.use"(%[[BEFORE]])
// CHECK-NEXT:      "test.use"(%[[MADE]])
// CHECK-NEXT:      "test.use"(%[[MADE]])
// CHECK-NEXT:      "test.use"(%[[KEPT]])
// CHECK:         "test.use"(%[[BEFORE]])
#loop = {arguments = [{name = "n", type = index}], in_place = [], results = [], sizes = [], symbol = "loop", type = ""}
func.func private @loop.impl(%ctx: !llvm.ptr, %n: index, %status: memref<i32>) attributes {resid.signature = #loop} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %before = memref.alloc() : memref<1024xf32>
  %kept = memref.alloc() : memref<1024xf32>
  %after = memref.alloc() : memref<1024xf32>
  scf.for %i = %c0 to %n step %c1 {
    %a = memref.alloc() : memref<1024xf32>
    %b = memref.alloc() : memref<1024xf32>
    "test.use"(%before) : (memref<1024xf32>) -> ()
    "test.use"(%a) : (memref<1024xf32>) -> ()
    "test.use"(%b) : (memref<1024xf32>) -> ()
    "test.use"(%kept) : (memref<1024xf32>) -> ()
  }
  "test.use"(%after) : (memref<1024xf32>) -> ()
  return
}

// -----

// A buffer whose other names are not seen is in use all the time.
// CHECK-LABEL: func.func private @hidden.scratch() -> i64
// CHECK:         return %c8192_i64
#hidden = {arguments = [], in_place = [], results = [], sizes = [], symbol = "hidden", type = ""}
func.func private @hidden.impl(%ctx: !llvm.ptr, %status: memref<i32>) attributes {resid.signature = #hidden} {
  %a = memref.alloc() : memref<1024xf32>
  %b = memref.alloc() : memref<1024xf32>
  %name = "test.name"(%a) : (memref<1024xf32>) -> memref<1024xf32>
  "test.use"(%b) : (memref<1024xf32>) -> ()
  "test.use"(%name) : (memref<1024xf32>) -> ()
  return
}

// -----

// Sizes that are known when the function runs share memory where they are multiples of one number, however it is written:
// 64 rows of 4 heads side by side take what 256 rows took. A square of it takes its own, and so does what is no multiple of
// 64 bytes.
// CHECK-LABEL: func.func private @multiples.scratch(
// CHECK-SAME:      %[[N:.*]]: i64, %{{.*}}: i64) -> i64
// CHECK-LABEL: func.func private @multiples.impl(
// CHECK-SAME:      %[[X:[a-z0-9]+]]: memref<?x64xf32>
// CHECK:         %[[ROWS:.*]] = memref.dim %[[X]], %c0
// CHECK-DAG:     memref.view %{{.*}}[%c0][%[[ROWS]]] {rows.temporary} : memref<?xi8> to memref<?x256xf32>
// CHECK-DAG:     memref.view %{{.*}}[%c0][%{{.*}}] {rows.temporary} : memref<?xi8> to memref<?x64xf32>
// CHECK-DAG:     memref.view %{{.*}}[%[[SQUARE:.*]]][%[[ROWS]], %[[ROWS]]] {rows.temporary} : memref<?xi8> to memref<?x?xf32>
// CHECK-DAG:     memref.view %{{.*}}[%[[REST:.*]]][%[[ROWS]]] {rows.temporary} : memref<?xi8> to memref<?x3xf32>
// CHECK-DAG:     memref.view %{{.*}}[%[[REST]]][%[[ROWS]]] {rows.temporary} : memref<?xi8> to memref<?x5xf32>
#multiples = {arguments = [{name = "x", shape = array<i64: -1, 64>, type = tensor<?x64xf32>}, {name = "y", shape = array<i64: -2, 64>, type = tensor<?x64xf32>}],
          in_place = [], results = [],
          sizes = [{argument = 0 : i64, dimension = 0 : i64, fixed = -1 : i64, name = "x_dim0", same_as = 0 : i64},
                   {argument = 1 : i64, dimension = 0 : i64, fixed = -1 : i64, name = "y_dim0", same_as = 0 : i64}],
          symbol = "multiples", type = ""}
func.func private @multiples.impl(%ctx: !llvm.ptr, %x: memref<?x64xf32>, %y: memref<?x64xf32>, %status: memref<i32>)
    attributes {resid.signature = #multiples} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %rows = memref.dim %x, %c0 : memref<?x64xf32>
  %others = memref.dim %y, %c0 : memref<?x64xf32>
  %many = arith.muli %others, %c4 : index
  %a = memref.alloc(%rows) : memref<?x256xf32>
  "test.use"(%a) : (memref<?x256xf32>) -> ()
  %b = memref.alloc(%many) : memref<?x64xf32>
  "test.use"(%b) : (memref<?x64xf32>) -> ()
  %c = memref.alloc(%rows, %rows) : memref<?x?xf32>
  "test.use"(%c) : (memref<?x?xf32>) -> ()
  %d = memref.alloc(%rows) : memref<?x3xf32>
  "test.use"(%d) : (memref<?x3xf32>) -> ()
  %e = memref.alloc(%rows) : memref<?x5xf32>
  "test.use"(%e) : (memref<?x5xf32>) -> ()
  return
}

// -----

// A branch in the loop hands its temporary on to the next iteration.
#handed = {arguments = [{name = "n", type = index}, {name = "c", type = i1}], in_place = [], results = [], sizes = [], symbol = "handed", type = ""}
func.func private @handed.impl(%ctx: !llvm.ptr, %n: index, %c: i1, %status: memref<i32>) attributes {resid.signature = #handed} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %first = memref.alloc() : memref<1024xf32>
  %last = scf.for %i = %c0 to %n step %c1 iter_args(%before = %first) -> (memref<1024xf32>) {
    %next = scf.if %c -> memref<1024xf32> {
      // expected-error @+1 {{a temporary that a loop carries to its next iteration is not available}}
      %made = memref.alloc() : memref<1024xf32>
      "test.use"(%before, %made) : (memref<1024xf32>, memref<1024xf32>) -> ()
      scf.yield %made : memref<1024xf32>
    } else {
      scf.yield %before : memref<1024xf32>
    }
    scf.yield %next : memref<1024xf32>
  }
  "test.use"(%last) : (memref<1024xf32>) -> ()
  return
}
