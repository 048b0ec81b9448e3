// RUN: resid-opt %s --resid-prepare-entries=prefix=k_ --split-input-file --verify-diagnostics | FileCheck %s

// Destination form: context, arguments, results, status cell. Equal sizes are known from the operations.
// CHECK-LABEL: func.func private @k_add.impl(
// CHECK-SAME:    %[[CTX:[a-z0-9]+]]: !llvm.ptr, %[[X:[a-z0-9]+]]: memref<?x8xf32>, %[[F:[a-z0-9]+]]: memref<?x8xf32>, %[[P:[a-z0-9]+]]: i64, %[[OUT:[a-z0-9]+]]: memref<?x8xf32>, %[[STATUS:[a-z0-9]+]]: memref<i32>)
// CHECK-SAME:    arguments = [{name = "x", shape = array<i64: -1, 8>, type = tensor<?x8xf32>}, {name = "float_", shape = array<i64: -2, 8>, type = tensor<?x8xf32>}, {name = "ctx_", type = i64}]
// CHECK-SAME:    results = [{name = "out0", shape = array<i64: -1, 8>, type = tensor<?x8xf32>}]
// CHECK-SAME:    sizes = [{argument = 0 : i64, dimension = 0 : i64, fixed = -1 : i64, name = "x_dim0", same_as = 0 : i64}, {argument = 1 : i64, dimension = 0 : i64, fixed = -1 : i64, name = "float__dim0", same_as = 0 : i64}]
// CHECK-SAME:    symbol = "k_add"
// CHECK:         %[[XT:.*]] = bufferization.to_tensor %[[X]] restrict
// CHECK:         %[[FT:.*]] = bufferization.to_tensor %[[F]] restrict
// CHECK:         %[[SUM:.*]] = arith.addf %[[XT]], %[[FT]]
// CHECK:         bufferization.materialize_in_destination %[[SUM]] in restrict writable %[[OUT]]
func.func @add(%x: tensor<?x8xf32> {resid.name = "x"}, %f: tensor<?x8xf32> {resid.name = "float"}, %p: i64 {resid.name = "ctx"})
    -> tensor<?x8xf32> {
  %s = arith.addf %x, %f : tensor<?x8xf32>
  return %s : tensor<?x8xf32>
}

// -----

// A size that a cast or another operand fixes; unrelated sizes stay unrelated.
// CHECK-LABEL: @k_cast.impl
// CHECK-SAME:    sizes = [{argument = 0 : i64, dimension = 0 : i64, fixed = 4 : i64, name = "arg0_dim0", same_as = 0 : i64}, {argument = 1 : i64, dimension = 0 : i64, fixed = -1 : i64, name = "arg1_dim0", same_as = 1 : i64}]
func.func @cast(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<4xf32>, tensor<?xf32>) {
  %c = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
  return %c, %y : tensor<4xf32>, tensor<?xf32>
}

// -----

// The ops of the stream: the gate and the parameters follow its last axes, statistics its first ones.
// CHECK-LABEL: @k_stream.impl
// CHECK-SAME:    results = [{name = "out0", shape = array<i64: -1, -2>, {{.*}}}, {name = "out1", shape = array<i64: -1>
// CHECK-SAME:    name = "arg1_dim0", same_as = 0
// CHECK-SAME:    name = "arg1_dim1", same_as = 1
// CHECK-SAME:    name = "arg2_dim0", same_as = 0
// CHECK-SAME:    name = "arg3_dim0", same_as = 1
func.func @stream(%x: tensor<?x?xf32>, %f: tensor<?x?xf32>, %gate: tensor<?x1xf32>, %gamma: tensor<?xf32>)
    -> (tensor<?x?xf32>, tensor<?xf32>) {
  %s = resid.add %x, %f gate(%gate) : tensor<?x?xf32>, tensor<?x1xf32>
  %n, %r = resid.rms_norm %s gamma(%gamma) {epsilon = 1.0e-6} : tensor<?x?xf32>, tensor<?xf32> -> tensor<?x?xf32>, tensor<?xf32>
  return %n, %r : tensor<?x?xf32>, tensor<?xf32>
}

// -----

// Through a matmul, a loop and sizes that tensor.dim asks for.
// CHECK-LABEL: @k_branch.impl
// CHECK-SAME:    results = [{name = "out0", shape = array<i64: -1, -4>
// CHECK-SAME:    name = "arg1_dim0", same_as = 1
func.func @branch(%x: tensor<?x?xf32>, %w: tensor<?x?xf32>, %n: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
  %columns = tensor.dim %w, %c1 : tensor<?x?xf32>
  %empty = tensor.empty(%rows, %columns) : tensor<?x?xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> tensor<?x?xf32> {
    %next = linalg.matmul ins(%x, %w : tensor<?x?xf32>, tensor<?x?xf32>) outs(%acc : tensor<?x?xf32>) -> tensor<?x?xf32>
    scf.yield %next : tensor<?x?xf32>
  }
  return %y : tensor<?x?xf32>
}

// -----

// What is computed first goes to its destination first, whatever the order of the results.
// CHECK-LABEL: @k_order.impl
// CHECK:         %[[FIRST:.*]] = arith.addf
// CHECK:         %[[SECOND:.*]] = arith.mulf
// CHECK:         materialize_in_destination %[[FIRST]] in restrict writable %arg3
// CHECK:         materialize_in_destination %[[SECOND]] in restrict writable %arg2
func.func @order(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %first = arith.addf %x, %x : tensor<4xf32>
  %second = arith.mulf %first, %first : tensor<4xf32>
  return %second, %first : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-NOT: @k_helper
// CHECK-LABEL: @k_empty.impl
func.func @empty() {
  return
}

// -----

// Sizes that follow from others: derived ones are counted on from the parameters; what must be equal is kept beside.
// CHECK-LABEL: @k_derived.impl
// CHECK-SAME{LITERAL}: derived_sizes = [["product", ["size", 0], 3], ["floor", ["size", 1], 4]]
// CHECK-SAME{LITERAL}: equalities = [["sum", ["size", 1], ["product", ["floor", ["size", 1], 4], -4]], 0]
// CHECK-SAME:    shape = array<i64: -3, 8>
// CHECK-SAME:    shape = array<i64: -4, 4, 8>
// CHECK:         memref.collapse_shape %{{.*}} {{\[}}[0, 1], [2]] : memref<?x4x8xf32> into memref<?x8xf32>
func.func @derived(%x: tensor<?x3x8xf32>, %y: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x4x8xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %y, %c0 : tensor<?x8xf32>
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x3x8xf32> into tensor<?x8xf32>
  %q = arith.divui %n, %c4 : index
  %expanded = tensor.expand_shape %y [[0, 1], [2]] output_shape [%q, 4, 8] : tensor<?x8xf32> into tensor<?x4x8xf32>
  return %flat, %expanded : tensor<?x8xf32>, tensor<?x4x8xf32>
}

// -----

// What flattening takes apart comes together again: no size is derived, and nothing is required.
// CHECK-LABEL: @k_there_and_back.impl
// CHECK-NOT:     equalities
// CHECK-SAME:    results = [{name = "out0", shape = array<i64: -1, -2, 8>
func.func @there_and_back(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x8xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x8xf32>
  %n = arith.muli %s, %b : index
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x8xf32> into tensor<?x8xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %y = linalg.copy ins(%flat : tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) -> tensor<?x8xf32>
  %o = tensor.expand_shape %y [[0, 1], [2]] output_shape [%b, %s, 8] : tensor<?x8xf32> into tensor<?x?x8xf32>
  return %o : tensor<?x?x8xf32>
}

// -----

// A size that can be nothing else is static from here on, through loops and conditions; casts stay at the borders.
// CHECK-LABEL: @k_refined.impl
// CHECK:         %[[X:.*]] = tensor.cast %{{.*}} : tensor<?x?xf32> to tensor<?x128xf32>
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %[[X]]) -> (tensor<?x128xf32>)
// CHECK:           resid.add_bias %{{.*}} : tensor<?x128xf32>, tensor<128xf32>
// CHECK:           scf.if %{{.*}} -> (tensor<?x128xf32>)
// CHECK:         materialize_in_destination %{{.*}} (tensor<?x128xf32>, memref<?x128xf32>)
func.func @refined(%x: tensor<?x?xf32>, %b: tensor<128xf32>, %n: index, %c: i1) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<?x?xf32> {
    %s = resid.add_bias %a, %b : tensor<?x?xf32>, tensor<128xf32>
    %t = scf.if %c -> tensor<?x?xf32> {
      scf.yield %s : tensor<?x?xf32>
    } else {
      scf.yield %a : tensor<?x?xf32>
    }
    scf.yield %t : tensor<?x?xf32>
  }
  return %y : tensor<?x?xf32>
}

// -----

// What a parallel loop shares is refined with it; slices are put into the loop's own tensor.
// CHECK-LABEL: @k_shared.impl
// CHECK:         scf.forall {{.*}} shared_outs(%[[OUT:.*]] = %{{.*}}) -> (tensor<?x16xf32>)
// CHECK:           scf.forall.in_parallel
// CHECK-NEXT:        tensor.parallel_insert_slice %{{.*}} into %[[OUT]]
func.func @shared(%x: tensor<?x?xf32>, %b: tensor<16xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x?xf32>
  %d = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%n, %d) : tensor<?x?xf32>
  %s = resid.add_bias %x, %b : tensor<?x?xf32>, tensor<16xf32>
  %r = scf.forall (%i) in (%n) shared_outs(%o = %e) -> (tensor<?x?xf32>) {
    %row = tensor.extract_slice %s[%i, 0] [1, %d] [1, 1] : tensor<?x?xf32> to tensor<1x?xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %row into %o[%i, 0] [1, %d] [1, 1] : tensor<1x?xf32> into tensor<?x?xf32>
    }
  }
  return %r : tensor<?x?xf32>
}

// -----

func.func @impossible(%x: tensor<?x?xf32>, %b: tensor<128xf32>, %c: tensor<64xf32>) -> tensor<?x?xf32> {
  %y = resid.add_bias %x, %b : tensor<?x?xf32>, tensor<128xf32>
  // expected-error @+1 {{expected a size that a call can have, but it must be 64 and 128}}
  %z = resid.add_bias %y, %c : tensor<?x?xf32>, tensor<64xf32>
  return %z : tensor<?x?xf32>
}

// -----

// expected-note @+1 {{the size comes from the value of this argument}}
func.func @unknown_size(%n: index) -> tensor<?xf32> {
  // expected-error @+1 {{dimension 0 of result 0 of 'unknown_size' does not follow from the sizes of the arguments}}
  %e = tensor.empty(%n) : tensor<?xf32>
  return %e : tensor<?xf32>
}

// -----

// expected-error @+1 {{argument 0 of type 'tensor<*xf32>' is not available in C: expected a scalar or a ranked tensor of f16, bf16, f32, f64, index, i1, i8, i16, i32 or i64}}
func.func @unranked(%x: tensor<*xf32>) {
  return
}

// -----

// A byte holds two elements of i4. Inside of the function, each has a byte of its own.
// CHECK-LABEL: @k_nibbles.impl(
// CHECK-SAME:    %{{[a-z0-9]+}}: !llvm.ptr, %[[BYTES:[a-z0-9]+]]: memref<?x3xi8>, %{{[a-z0-9]+}}: memref<?x6xi32>, %{{[a-z0-9]+}}: memref<i32>)
// CHECK-SAME:    arguments = [{name = "arg0", shape = array<i64: -1, 3>, type = tensor<?x6xi4>}]
// CHECK-SAME:    type = "(tensor<?x6xi4>) -> tensor<?x6xi32>"
// CHECK:         %[[TENSOR:.*]] = bufferization.to_tensor %[[BYTES]]
// CHECK:         %[[ELEMENTS:.*]] = linalg.generic {{.*}} ins(%[[TENSOR]], %{{.*}} : tensor<?x3xi8>, tensor<2xi8>) outs(%{{.*}} : tensor<?x6xi4>) attrs = {resid.nibbles}
// CHECK:         arith.extsi %[[ELEMENTS]]
func.func @nibbles(%q: tensor<?x6xi4>) -> tensor<?x6xi32> {
  %y = arith.extsi %q : tensor<?x6xi4> to tensor<?x6xi32>
  return %y : tensor<?x6xi32>
}

// -----

// expected-error @+1 {{argument 0 of type 'tensor<4x7xi4>' is not available in C: expected an even last dimension, since a byte holds two elements}}
func.func @odd(%q: tensor<4x7xi4>) -> tensor<4xf32> {
  %y = tensor.empty() : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @+1 {{argument 0 of type 'tensor<4x8xi4>' is not available in C: expected contiguous rows, since a byte holds two elements}}
func.func @apart(%q: tensor<4x8xi4> {resid.strided}) -> tensor<4xf32> {
  %y = tensor.empty() : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @+1 {{result 0 of type 'f32' is not available in C: expected a ranked tensor of f16, bf16, f32, f64, index, i1, i8, i16, i32 or i64}}
func.func @scalar_result(%x: f32) -> f32 {
  return %x : f32
}

// -----

// Strided arrays: open strides but the last, a parameter after the sizes, the attribute in the type's text.
// CHECK-LABEL: func.func private @k_strided.impl(
// CHECK-SAME:    %{{[a-z0-9]+}}: memref<2x?x4xf32, strided<[?, ?, 1]>> {resid.strided}, %{{[a-z0-9]+}}: i64, %{{[a-z0-9]+}}: memref<2x?x4xf32, strided<[?, ?, 1]>> {resid.strided}, %{{[a-z0-9]+}}: memref<2x?x4xf32>,
// CHECK-SAME:    arguments = [{name = "x", shape = array<i64: 2, -1, 4>, stride = "x_stride", type = tensor<2x?x4xf32>}, {name = "x_stride_", type = i64}]
// CHECK-SAME:    results = [{name = "out0", shape = array<i64: 2, -1, 4>, stride = "out0_stride", type = tensor<2x?x4xf32>}, {name = "out1", shape = array<i64: 2, -1, 4>, type = tensor<2x?x4xf32>}]
// CHECK-SAME:    type = "(tensor<2x?x4xf32> {resid.strided}, i64) -> (tensor<2x?x4xf32> {resid.strided}, tensor<2x?x4xf32>)"
func.func @strided(%x: tensor<2x?x4xf32> {resid.name = "x", resid.strided}, %n: i64 {resid.name = "x_stride"})
    -> (tensor<2x?x4xf32> {resid.strided}, tensor<2x?x4xf32>) {
  return %x, %x : tensor<2x?x4xf32>, tensor<2x?x4xf32>
}

// -----

// expected-error @+1 {{expected arrays of at most 2^47 bytes, but got 'tensor<140737488355329xi8>'}}
func.func @large(%x: tensor<140737488355329xi8>) {
  return
}

// -----

// expected-error @+1 {{expected one block in function 'blocks', but got 2}}
func.func @blocks(%x: tensor<4xf32>) {
  cf.br ^end
^end:
  return
}

// -----

// expected-error @+1 {{expected a function name that is a C identifier, but got 'k_a-b'}}
func.func @"a-b"(%x: tensor<4xf32>) {
  return
}
