// RUN: resid-opt %s -split-input-file --resid-grad=function=f | FileCheck %s

// The forward gives the statistics of its rows, and saves them alone: two numbers for each query. The backward is one op.
// CHECK-LABEL: func.func @f_forward(
// CHECK-SAME: -> (tensor<1x2x?x4xbf16>, tensor<1x2x?xf32>, tensor<1x2x?xf32>)
// CHECK-NEXT: %[[Y:.+]], %[[MAX:.+]], %[[SUM:.+]] = resid.attention %{{.+}} {causal, scale = 2.500000e-01 : f64}
// CHECK-NEXT: return %[[Y]], %[[MAX]], %[[SUM]]
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME: %[[Q:[^:]+]]: tensor<1x2x?x4xbf16>, %[[K:[^:]+]]: tensor<1x2x?x4xbf16>, %[[V:[^:]+]]: tensor<1x2x?x4xbf16>, %[[MAX:[^:]+]]: tensor<1x2x?xf32> {resid.name = "saved0"}, %[[SUM:[^:]+]]: tensor<1x2x?xf32> {resid.name = "saved1"}, %[[DY:[^:]+]]: tensor<1x2x?x4xbf16>
// CHECK-NEXT: %[[DQ:.+]], %[[DK:.+]], %[[DV:.+]] = resid.attention_grad %[[DY]], %[[Q]], %[[K]], %[[V]] statistics(%[[MAX]], %[[SUM]]) {causal, scale = 2.500000e-01 : f64} :
// CHECK-NEXT: return %[[DQ]], %[[DK]], %[[DV]]
func.func @f(%q: tensor<1x2x?x4xbf16>, %k: tensor<1x2x?x4xbf16>, %v: tensor<1x2x?x4xbf16>) -> tensor<1x2x?x4xbf16> {
  %y = resid.attention %q, %k, %v {causal, scale = 0.25} : tensor<1x2x?x4xbf16>, tensor<1x2x?x4xbf16>, tensor<1x2x?x4xbf16>
  return %y : tensor<1x2x?x4xbf16>
}

// -----

// Mask and dropout are those of the forward: no array of queries times keys is saved or made. A tensor that is read twice
// has both gradients.
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME: %[[Q:[^:]+]]: tensor<1x6x3x4xf32>, %[[K:[^:]+]]: tensor<1x2x3x4xf32>, %[[MASK:[^:]+]]: tensor<3xi1>, %[[SEED:[^:]+]]: i64, %[[STEP:[^:]+]]: i64, %[[ROW:[^:]+]]: i64, %[[COL:[^:]+]]: i64,
// CHECK-NEXT: %[[DQ:.+]], %[[DK:.+]], %[[DV:.+]] = resid.attention_grad %{{.+}}, %[[Q]], %[[K]], %[[K]] statistics({{.+}}) mask(%[[MASK]]) dropout(%[[SEED]], %[[STEP]]) origin(%[[ROW]], %[[SEED]], %[[COL]]) extent(%[[COL]], %[[STEP]]) {p = 1.000000e-01 : f64, site = 3 : i64}
// CHECK-NEXT: %[[SUM:.+]] = resid.add %[[DK]], %[[DV]]
// CHECK-NEXT: return %[[DQ]], %[[SUM]]
func.func @f(%q: tensor<1x6x3x4xf32>, %k: tensor<1x2x3x4xf32>, %mask: tensor<3xi1>, %seed: i64, %step: i64, %row: i64, %col: i64) -> tensor<1x6x3x4xf32> {
  %y = resid.attention %q, %k, %k mask(%mask) dropout(%seed, %step) origin(%row, %seed, %col) extent(%col, %step) {p = 0.1, site = 3}
      : tensor<1x6x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<3xi1>
  return %y : tensor<1x6x3x4xf32>
}

// -----

// A gradient that is wider than the arithmetic of the scores is rounded to it.
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME: %[[DY:[^:]+]]: tensor<1x1x3x4xf64>
// CHECK-NEXT: %[[NARROW:.+]] = arith.truncf %[[DY]] : tensor<1x1x3x4xf64> to tensor<1x1x3x4xf32>
// CHECK-NEXT: resid.attention_grad %[[NARROW]],
func.func @f(%q: tensor<1x1x3x4xf32>) -> tensor<1x1x3x4xf64> {
  %y = resid.attention %q, %q, %q : tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32> -> tensor<1x1x3x4xf64>
  return %y : tensor<1x1x3x4xf64>
}

// -----

// CHECK-LABEL: func.func @f_backward(
// CHECK: resid.attention_grad {{.+}} {causal, window = 16 : i64} :
func.func @f(%q: tensor<1x1x3x4xf32>) -> tensor<1x1x3x4xf32> {
  %y = resid.attention %q, %q, %q {causal, window = 16} : tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>, tensor<1x1x3x4xf32>
  return %y : tensor<1x1x3x4xf32>
}

// -----

// The gradient of a sink is a sum down the rows of the numbers that the backward gives for each query.
// CHECK-LABEL: func.func @f_backward(
// CHECK: %{{.+}}, %{{.+}}, %{{.+}}, %[[SINKS:.+]] = resid.attention_grad {{.+}} sink(%{{.+}}) {cap = 5.000000e+01 : f64} :
// CHECK: %[[SUM:.+]] = linalg.generic {{.+}} ins(%[[SINKS]] : tensor<1x3x2xf32>) outs(%{{.+}} : tensor<2xf32>)
// CHECK: arith.truncf {{.+}} : tensor<2xf32> to tensor<2xbf16>
func.func @f(%q: tensor<1x2x3x4xf32>, %sink: tensor<2xbf16>) -> tensor<1x2x3x4xf32> {
  %y = resid.attention %q, %q, %q sink(%sink) {cap = 50.0} : tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<2xbf16>
  return %y : tensor<1x2x3x4xf32>
}
