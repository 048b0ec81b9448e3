// RUN: resid-opt %s -split-input-file --resid-grad=function=f --canonicalize --cse 2>/dev/null | FileCheck %s

// A loop over layers. The forward saves what rules read of each layer in stacks: the stream, not the normalised rows,
// and the statistics. The backward goes the other way; the gradient of the stack of weights is filled slice by slice in
// place, and that of the stream is a carry.
// CHECK-LABEL: func.func @f_forward(
// CHECK-SAME: %[[X:[^:]+]]: tensor<?x8xf32>, %[[G:[^:]+]]: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x?x8xf32>, tensor<?x?xf32>)
// CHECK-DAG: %[[LAYERS:.+]] = tensor.dim %[[G]], %c0
// CHECK-DAG: %[[ROWS:.+]] = tensor.dim %[[X]], %c0
// CHECK-DAG: %[[S:.+]] = tensor.empty(%[[LAYERS]], %[[ROWS]]) : tensor<?x?x8xf32>
// CHECK-DAG: %[[R:.+]] = tensor.empty(%[[LAYERS]], %[[ROWS]]) : tensor<?x?xf32>
// CHECK: scf.for %[[I:.+]] = %c0 to %[[LAYERS]] step %c1 iter_args(%[[A:.+]] = %[[X]], %[[SI:.+]] = %[[S]], %[[RI:.+]] = %[[R]])
// CHECK: %{{.+}}, %[[RSTD:.+]] = resid.rms_norm %[[A]]
// CHECK: resid.add
// CHECK-DAG: tensor.insert_slice %[[A]] into %[[SI]][%[[I]], 0, 0] [1, %[[ROWS]], 8] [1, 1, 1]
// CHECK-DAG: tensor.insert_slice %[[RSTD]] into %[[RI]][%[[I]], 0] [1, %[[ROWS]]] [1, 1]
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME: %[[SAVED0:[^:]+]]: tensor<?x?x8xf32> {resid.name = "saved0"}, %[[SAVED1:[^:]+]]: tensor<?x?xf32> {resid.name = "saved1"}, %[[DY:[^:]+]]: tensor<?x8xf32> {resid.name = "d_out0"})
// CHECK-COUNT-1: linalg.fill
// CHECK: scf.for %[[J:.+]] = %c0 to %[[COUNT:.+]] step %c1 iter_args(%[[D:.+]] = %[[DY]], %[[SUM:.+]] = %{{.+}})
// CHECK: %[[SLOT:.+]] = arith.subi %{{.+}}, %[[J]]
// CHECK-DAG: tensor.extract_slice %[[SAVED0]][%[[SLOT]], 0, 0]
// CHECK-DAG: tensor.extract_slice %[[SAVED1]][%[[SLOT]], 0]
// CHECK: %[[DX:.+]], %[[DG:.+]], %{{.+}} = resid.rms_norm_grad %[[D]], {{.+}} sum(%[[D]])
// CHECK: %[[OLD:.+]] = tensor.extract_slice %[[SUM]][%[[SLOT]], 0]
// CHECK: %[[NEW:.+]] = resid.add %[[OLD]], %[[DG]] : tensor<8xf32>
// CHECK: %[[FILLED:.+]] = tensor.insert_slice %[[NEW]] into %[[SUM]][%[[SLOT]], 0]
// CHECK: scf.yield %[[DX]], %[[FILLED]]
func.func @f(%x: tensor<?x8xf32>, %g: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %g, %c0 : tensor<?x8xf32>
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<?x8xf32>) {
    %gi = tensor.extract_slice %g[%i, 0] [1, 8] [1, 1] : tensor<?x8xf32> to tensor<8xf32>
    %z = resid.rms_norm %a gamma(%gi) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8xf32>
    %b = resid.add %a, %z : tensor<?x8xf32>
    scf.yield %b : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}

// -----

// Nothing tells in front of the loop how long the slice is, so no stack can have it: it is computed again.
// CHECK-LABEL: func.func @f_forward(
// CHECK-SAME: -> (tensor<8xf32>, tensor<4x8xf32>)
// CHECK-LABEL: func.func @f_backward(
// CHECK: scf.for
// CHECK: tensor.extract_slice {{.+}} : tensor<8xf32> to tensor<?xf32>
// CHECK: math.exp
func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 4 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<8xf32>) {
    %half = tensor.extract_slice %a[0] [%i] [1] : tensor<8xf32> to tensor<?xf32>
    %e = math.exp %half : tensor<?xf32>
    %f = math.exp %e : tensor<?xf32>
    %b = tensor.insert_slice %f into %a[0] [%i] [1] : tensor<?xf32> into tensor<8xf32>
    scf.yield %b : tensor<8xf32>
  }
  return %y : tensor<8xf32>
}
