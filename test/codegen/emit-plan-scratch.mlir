// RUN: resid-opt %s --allow-unregistered-dialect --resid-plan-scratch --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// Two temporaries one behind the other, each rounded up to 64 bytes; the block comes before the status cell.
// CHECK-LABEL: func.func private @two__scratch(%{{.*}}: i64) -> i64
// CHECK:         arith.mului_extended
// CHECK:         %[[TOTAL:.*]] = arith.select %{{.*}}, %c-2_i64, %{{.*}} : i64
// CHECK:         return %[[TOTAL]]
// CHECK-LABEL: func.func private @two__impl(
// CHECK-SAME:    %{{.*}}: !llvm.ptr, %[[X:[a-z0-9]+]]: memref<?x8xf32>, %{{.*}}: memref<?x8xf32>, %[[SCRATCH:[a-z0-9]+]]: memref<?xi8>, %{{.*}}: memref<i32>)
// CHECK-SAME:    resid.scratch = @two__scratch
// CHECK:         %[[ROWS:.*]] = memref.dim %[[X]]
// CHECK:         %[[BYTES:.*]] = arith.muli %[[ROWS]], %c32
// CHECK:         %[[FIRST:.*]] = memref.view %[[SCRATCH]][%c0][%[[ROWS]]] : memref<?xi8> to memref<?x8xf32>
// CHECK:         %[[RAISED:.*]] = arith.addi %[[BYTES]], %c63
// CHECK:         %[[OFFSET:.*]] = arith.andi %[[RAISED]], %c-64
// CHECK:         %[[SECOND:.*]] = memref.view %[[SCRATCH]][%[[OFFSET]]][%[[ROWS]]] : memref<?xi8> to memref<?x8xbf16>
// CHECK-NOT:     memref.alloc
// CHECK:         "test.use"(%[[FIRST]], %[[SECOND]])
#two = {arguments = [{name = "x", shape = array<i64: -1, 8>, type = tensor<?x8xf32>}], in_place = [],
        results = [{name = "out0", shape = array<i64: -1, 8>, type = tensor<?x8xf32>}],
        sizes = [{argument = 0 : i64, dimension = 0 : i64, fixed = -1 : i64, name = "x_dim0", same_as = 0 : i64}],
        symbol = "two", type = ""}
func.func private @two__impl(%ctx: !llvm.ptr, %x: memref<?x8xf32>, %out: memref<?x8xf32>, %status: memref<i32>)
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
// CHECK-NOT:   __scratch
// CHECK-LABEL: func.func private @small__impl(
// CHECK-NOT:     memref<?xi8>
// CHECK:         memref.alloca() {alignment = 64 : i64} : memref<16xf32>
#small = {arguments = [], in_place = [], results = [], sizes = [], symbol = "small", type = ""}
func.func private @small__impl(%ctx: !llvm.ptr, %status: memref<i32>) attributes {resid.signature = #small} {
  %a = memref.alloc() : memref<16xf32>
  "test.use"(%a) : (memref<16xf32>) -> ()
  return
}

// -----

#unknown = {arguments = [{name = "n", type = index}], in_place = [], results = [], sizes = [], symbol = "unknown", type = ""}
func.func private @unknown__impl(%ctx: !llvm.ptr, %n: index, %status: memref<i32>) attributes {resid.signature = #unknown} {
  // expected-error @+1 {{the size of a temporary does not follow from the sizes of the arguments}}
  %a = memref.alloc(%n) : memref<?xf32>
  "test.use"(%a) : (memref<?xf32>) -> ()
  return
}
