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

// -----

// A lookup that is written in a body is an embedding.
// CHECK-LABEL: func.func @f_forward(
// CHECK: %[[WORDS:.+]] = resid.embedding %{{.+}}, %{{.+}} : tensor<?xi64>, tensor<5x4xf32>
// CHECK: linalg.generic {{.+}} ins(%{{.+}}, %[[WORDS]] :
// CHECK-NOT: tensor.extract
// CHECK-LABEL: func.func @f_backward(
// CHECK: resid.embedding_grad
func.func @f(%table: tensor<5x4xf32>, %ids: tensor<?xi64>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %ids, %c0 : tensor<?xi64>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(t, c) -> (t)>, affine_map<(t, c) -> (t, c)>], iterator_types = ["parallel", "parallel"]}
      ins(%ids : tensor<?xi64>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%id: i64, %old: f32):
    %row = arith.index_cast %id : i64 to index
    %column = linalg.index 1 : index
    %word = tensor.extract %table[%row, %column] : tensor<5x4xf32>
    linalg.yield %word : f32
  } -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
