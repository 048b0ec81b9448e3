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

// expected-error @+1 {{dimension 0 of result 0 does not follow from the sizes of the arguments}}
func.func @unknown_size(%n: index) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  return %e : tensor<?xf32>
}

// -----

// expected-error @+1 {{argument 0 of type 'tensor<*xf32>' is not available in C: expected a scalar or a ranked tensor of f16, bf16, f32, f64, index, i1, i8, i16, i32 or i64}}
func.func @unranked(%x: tensor<*xf32>) {
  return
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
