// REQUIRES: residc
// RUN: residc %s -o %t.o --report 2>&1 | FileCheck %s

// Sizes in a report are the C parameters that say them, also of arrays that reach a kernel in another shape. The dimensions of the
// reshaped mask are others than those of the argument: the last one was read after its end.

// CHECK-LABEL: kernel masked.0
// CHECK:      reads q : tensor<?x2x?x16xf32>, 128*q_dim0*q_dim2 bytes
// CHECK-NEXT: reads k : tensor<?x2x?x16xf32>, 128*k_dim2*q_dim0 bytes
// CHECK-NEXT: reads v : tensor<?x2x?x16xf32>, 128*k_dim2*q_dim0 bytes
// CHECK-NEXT: reads mask : tensor<?x1x1x?xi1>, 1*k_dim2*q_dim0 bytes
// CHECK-NEXT: writes out0 : tensor<?x2x?x16xf32>, 128*q_dim0*q_dim2 bytes
func.func @masked(%q: tensor<?x2x?x16xf32>, %k: tensor<?x2x?x16xf32>, %v: tensor<?x2x?x16xf32>, %mask: tensor<?x?xi1>)
    -> tensor<?x2x?x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %mask, %c0 : tensor<?x?xi1>
  %keys = tensor.dim %mask, %c1 : tensor<?x?xi1>
  %expanded = tensor.expand_shape %mask [[0, 1, 2], [3]] output_shape [%n, 1, 1, %keys] : tensor<?x?xi1> into tensor<?x1x1x?xi1>
  %y = resid.attention %q, %k, %v mask(%expanded)
      : tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>, tensor<?x1x1x?xi1>
  return %y : tensor<?x2x?x16xf32>
}

// What one kernel makes, and another reads in another shape.
// CHECK-LABEL: kernel split.1
// CHECK:      reads {{.*}} : tensor<?x?x2x16xf32>, 128*x_dim0*x_dim1 bytes
// CHECK:      writes result 0 of split.1 : tensor<?x?x2x16xf32>, 128*x_dim0*x_dim1 bytes
// CHECK-LABEL: kernel split.2
// CHECK:      reads {{.*}} : tensor<?x?x32xf32>, 128*x_dim0*x_dim1 bytes
func.func @split(%x: tensor<?x?x32xf32>, %weight: tensor<32x32xf32>) -> tensor<?x?x32xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sentences = tensor.dim %x, %c0 : tensor<?x?x32xf32>
  %tokens = tensor.dim %x, %c1 : tensor<?x?x32xf32>
  %rows = resid.linear %x, %weight : tensor<?x?x32xf32>, tensor<32x32xf32>
  %split = tensor.expand_shape %rows [[0], [1], [2, 3]] output_shape [%sentences, %tokens, 2, 16] : tensor<?x?x32xf32> into tensor<?x?x2x16xf32>
  %heads_empty = tensor.empty(%sentences, %tokens) : tensor<?x2x?x16xf32>
  %heads = linalg.transpose ins(%split : tensor<?x?x2x16xf32>) outs(%heads_empty : tensor<?x2x?x16xf32>) permutation = [0, 2, 1, 3]
  %context = resid.attention %heads, %heads, %heads : tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>, tensor<?x2x?x16xf32>
  %empty = tensor.empty(%sentences, %tokens) : tensor<?x?x2x16xf32>
  %joined = linalg.transpose ins(%context : tensor<?x2x?x16xf32>) outs(%empty : tensor<?x?x2x16xf32>) permutation = [0, 2, 1, 3]
  %whole = tensor.collapse_shape %joined [[0], [1], [2, 3]] : tensor<?x?x2x16xf32> into tensor<?x?x32xf32>
  %y = resid.linear %whole, %weight : tensor<?x?x32xf32>, tensor<32x32xf32>
  return %y : tensor<?x?x32xf32>
}
