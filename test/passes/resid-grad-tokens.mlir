// RUN: resid-opt %s -split-input-file -verify-diagnostics=only-expected --resid-grad=function=f | FileCheck %s

// What a row's loss was taken from is saved, with its logsumexp. A table that is the weight of the logits too has one
// addition. Labels and ids are arguments of both.
// CHECK-LABEL: func.func @f_forward(
// CHECK: %[[LOGITS:.+]] = resid.linear
// CHECK-NEXT: %[[LOSS:.+]], %[[LSE:.+]] = resid.cross_entropy %[[LOGITS]] labels(%[[L:.+]]) {ignore_index = -1 : i64} : tensor<?x9xf32>, tensor<?xi64> -> tensor<?xf32>, tensor<?xf32>
// CHECK-NEXT: return %[[LOSS]], %{{.+}}, %[[LOGITS]], %[[LSE]]
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME: %[[IDS:[^:]+]]: tensor<?xi64>, %[[L:[^:]+]]: tensor<?xi64>, %[[T:[^:]+]]: tensor<9x8xf32>, %[[Y:[^:]+]]: tensor<?x8xf32> {{{.+}}}, %[[LOGITS:[^:]+]]: tensor<?x9xf32> {{{.+}}}, %[[LSE:[^:]+]]: tensor<?xf32> {{{.+}}}, %[[DLOSS:[^:]+]]: tensor<?xf32>
// CHECK: %[[DL:.+]] = resid.cross_entropy_grad %[[DLOSS]], %[[LOGITS]] labels(%[[L]]) logsumexp(%[[LSE]]) {ignore_index = -1 : i64}
// CHECK: %[[DY:.+]] = resid.linear %[[DL]], %[[T]] {transposed}
// CHECK: %[[DT:.+]] = resid.embedding_grad %{{.+}}, %[[IDS]] like(%[[T]])
// CHECK: %[[SUM:.+]] = resid.add %{{.+}}, %[[DT]]
// CHECK-NEXT: return %[[SUM]]
func.func @f(%ids: tensor<?xi64>, %labels: tensor<?xi64>, %table: tensor<9x8xf32>) -> tensor<?xf32> {
  %y = resid.embedding %ids, %table : tensor<?xi64>, tensor<9x8xf32>
  %logits = resid.linear %y, %table : tensor<?x8xf32>, tensor<9x8xf32>
  %loss = resid.cross_entropy %logits labels(%labels) {ignore_index = -1} : tensor<?x9xf32>, tensor<?xi64>
  return %loss : tensor<?xf32>
}

// -----

func.func @f(%x: tensor<4x8xf32>, %labels: tensor<4xi64>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error @+1 {{'resid.cross_entropy' op has no gradient through its logsumexp: expected it to reach no result whose gradient is taken}}
  %loss, %lse = resid.cross_entropy %x labels(%labels) : tensor<4x8xf32>, tensor<4xi64> -> tensor<4xf32>, tensor<4xf32>
  return %loss, %lse : tensor<4xf32>, tensor<4xf32>
}
