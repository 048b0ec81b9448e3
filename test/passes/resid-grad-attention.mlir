// RUN: resid-opt %s -split-input-file --resid-grad=function=f | FileCheck %s

// The forward gives the statistics of its rows, and saves them alone: two numbers for each query. The backward makes scores
// and weights again. The products read what lies as it is, in f32, and round to the types of q, k and v once.
// CHECK-LABEL: func.func @f_forward(
// CHECK-SAME: -> (tensor<1x2x?x4xbf16>, tensor<1x2x?xf32>, tensor<1x2x?xf32>)
// CHECK-NEXT: %[[Y:.+]], %[[MAX:.+]], %[[SUM:.+]] = resid.attention %{{.+}} {causal, scale = 2.500000e-01 : f64}
// CHECK-NEXT: return %[[Y]], %[[MAX]], %[[SUM]]
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME: %[[Q:[^:]+]]: tensor<1x2x?x4xbf16>, %[[K:[^:]+]]: tensor<1x2x?x4xbf16>, %[[V:[^:]+]]: tensor<1x2x?x4xbf16>, %[[MAX:[^:]+]]: tensor<1x2x?xf32> {resid.name = "saved0"}, %[[SUM:[^:]+]]: tensor<1x2x?xf32> {resid.name = "saved1"}, %[[DY:[^:]+]]: tensor<1x2x?x4xbf16>
// CHECK-NOT: resid.attention
// CHECK: %[[PRODUCT:.+]] = linalg.generic {{.+}} ins(%[[Q]], %[[K]] :
// CHECK: %[[SCORES:.+]] = linalg.generic {{.+}} ins(%[[PRODUCT]] :
// CHECK: %[[P:.+]] = linalg.generic {{.+}} ins(%[[SCORES]], %[[MAX]], %[[SUM]] :
// CHECK: math.exp
// CHECK: arith.divf
// CHECK: %[[DV:.+]] = linalg.generic {{.+}}iterator_types = ["parallel", "parallel", "reduction", "parallel", "parallel"]} ins(%[[P]], %[[DY]] :
// CHECK: %[[DVN:.+]] = arith.truncf %[[DV]]
// CHECK: %[[DP:.+]] = linalg.generic {{.+}}iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%[[DY]], %[[V]] :
// CHECK: %[[MEAN:.+]] = linalg.generic {{.+}} ins(%[[P]], %[[DP]] :
// CHECK: %[[DS:.+]] = linalg.generic {{.+}} ins(%[[P]], %[[DP]], %[[MEAN]] :
// CHECK: arith.constant 2.500000e-01 : f32
// CHECK: %[[DQ:.+]] = linalg.generic {{.+}}iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]} ins(%[[DS]], %[[K]] :
// CHECK: %[[DQN:.+]] = arith.truncf %[[DQ]]
// CHECK: %[[DK:.+]] = linalg.generic {{.+}}iterator_types = ["parallel", "parallel", "reduction", "parallel", "parallel"]} ins(%[[DS]], %[[Q]] :
// CHECK: %[[DKN:.+]] = arith.truncf %[[DK]]
// CHECK: return %[[DQN]], %[[DKN]], %[[DVN]]
func.func @f(%q: tensor<1x2x?x4xbf16>, %k: tensor<1x2x?x4xbf16>, %v: tensor<1x2x?x4xbf16>) -> tensor<1x2x?x4xbf16> {
  %y = resid.attention %q, %k, %v {causal, scale = 0.25} : tensor<1x2x?x4xbf16>, tensor<1x2x?x4xbf16>, tensor<1x2x?x4xbf16>
  return %y : tensor<1x2x?x4xbf16>
}

// -----

// The gradients of keys are summed over the heads that share them, and the masks of dropout are made again: those of the
// weights, and those of their gradients.
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME: %[[SEED:[^:]+]]: i64, %[[STEP:[^:]+]]: i64,
// CHECK: %[[D:.+]] = resid.dropout %{{.+}} seed(%[[SEED]], %[[STEP]]) {p = 1.000000e-01 : f64, site = 3 : i64} : tensor<1x6x3x3xf32>
// CHECK: %[[SPLIT:.+]] = tensor.expand_shape %[[D]] {{\[\[}}0], [1, 2], [3], [4]]
// CHECK: linalg.generic {{.+}}iterator_types = ["parallel", "parallel", "reduction", "reduction", "parallel", "parallel"]} ins(%[[SPLIT]],
// CHECK: resid.dropout %{{.+}} seed(%[[SEED]], %[[STEP]]) {p = 1.000000e-01 : f64, site = 3 : i64} : tensor<1x6x3x3xf32>
// CHECK: linalg.generic {{.+}}iterator_types = ["parallel", "parallel", "reduction", "reduction", "parallel", "parallel"]}
func.func @f(%q: tensor<1x6x3x4xf32>, %k: tensor<1x2x3x4xf32>, %seed: i64, %step: i64) -> tensor<1x6x3x4xf32> {
  %y = resid.attention %q, %k, %k dropout(%seed, %step) {p = 0.1, site = 3}
      : tensor<1x6x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>
  return %y : tensor<1x6x3x4xf32>
}
