// RUN: resid-opt %s -split-input-file --resid-grad=function=f | FileCheck %s
// RUN: resid-opt %s -split-input-file --resid-grad="function=f mode=value-and-grad" | FileCheck %s --check-prefix=VALUE

// Post-norm: the sum and its statistics are saved, the mask is not. The skip path has no multiplication, the branch one by
// its scale; nothing is filled with zeros but the start of a sum down the rows.
// CHECK-LABEL: func.func @f(
// CHECK-NOT: statistics
// CHECK-LABEL: func.func @f_forward(
// CHECK-SAME: %[[X:[^:]+]]: tensor<?x8xf32> {resid.name = "x"}, {{.*}}) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>)
// CHECK: %[[SUM:.+]] = resid.add %[[X]], %{{.+}} {branch_scale = 5.000000e-01 : f64}
// CHECK-NEXT: %[[Y:.+]], %[[M:.+]], %[[C:.+]], %[[R:.+]] = resid.layer_norm %[[SUM]]
// CHECK-NEXT: return %[[Y]], %[[SUM]], %[[M]], %[[C]], %[[R]]
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME: %[[SEED:[^:]+]]: i64 {resid.name = "seed"}, %[[STEP:[^:]+]]: i64 {resid.name = "step"}, %[[S0:[^:]+]]: tensor<?x8xf32> {resid.name = "saved0"}, %[[S1:[^:]+]]: tensor<?xf32> {resid.name = "saved1"}, %[[S2:[^:]+]]: tensor<?xf32> {resid.name = "saved2"}, %[[S3:[^:]+]]: tensor<?xf32> {resid.name = "saved3"}, %[[DY:[^:]+]]: tensor<?x8xf32> {resid.name = "d_out0"})
// CHECK-SAME: -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
// CHECK-NEXT: %[[DX:.+]], %[[DG:.+]], %[[DB:.+]] = resid.layer_norm_grad %[[DY]], %[[S0]] statistics(%[[S1]], %[[S2]], %[[S3]]) gamma(%{{.+}}) :
// CHECK: %[[HALF:.+]] = linalg.generic {{.+}} ins(%[[DX]] :
// CHECK: arith.constant 5.000000e-01 : f32
// CHECK-NEXT: arith.mulf
// CHECK: %[[DD:.+]] = resid.dropout %[[HALF]] seed(%[[SEED]], %[[STEP]]) {p = 1.000000e-01 : f64, site = 3 : i64}
// CHECK-NOT: arith.mulf
// CHECK-COUNT-1: linalg.fill
// CHECK: %[[DBIAS:.+]] = linalg.generic {{.+}}iterator_types = ["reduction", "parallel"]} ins(%[[DD]] :
// CHECK-NOT: linalg.fill
// CHECK: return %[[DX]], %[[DD]], %[[DBIAS]], %[[DG]], %[[DB]]

// VALUE-LABEL: func.func @f_value_and_grad(
// VALUE-SAME: %[[DY:[^:]+]]: tensor<?x8xf32> {resid.name = "d_out0"}) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
// VALUE: %[[Y:.+]], %[[M:.+]], %[[C:.+]], %[[R:.+]] = resid.layer_norm %[[SUM:[^ ]+]]
// VALUE: %[[DX:.+]], %[[DG:.+]], %[[DB:.+]] = resid.layer_norm_grad %[[DY]], %[[SUM]] statistics(%[[M]], %[[C]], %[[R]])
// VALUE: return %[[Y]], %[[DX]], %{{.+}}, %{{.+}}, %[[DG]], %[[DB]]
func.func @f(%x: tensor<?x8xf32> {resid.name = "x"}, %f: tensor<?x8xf32> {resid.name = "f"}, %b: tensor<8xf32>,
             %gamma: tensor<8xf32>, %beta: tensor<8xf32>, %seed: i64 {resid.name = "seed"}, %step: i64 {resid.name = "step"})
    -> tensor<?x8xf32> {
  %fb = resid.add_bias %f, %b : tensor<?x8xf32>, tensor<8xf32>
  %d = resid.dropout %fb seed(%seed, %step) {p = 0.1, site = 3} : tensor<?x8xf32>
  %s = resid.add %x, %d {branch_scale = 0.5} : tensor<?x8xf32>
  %y = resid.layer_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>
  return %y : tensor<?x8xf32>
}

// -----

// Pre-norm, fused: the gradient of the sum goes into the backward of the norm, and nothing is added after it.
// CHECK-LABEL: func.func @f_forward(
// CHECK: return %[[Y:.+]], %[[SUM:.+]], %[[SUM]], %{{.+}} :
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME: %[[DY:[^:]+]]: tensor<4x8xf32> {resid.name = "d_out0"}, %[[DS:[^:]+]]: tensor<4x8xf32> {resid.name = "d_out1"})
// CHECK-NEXT: %[[DX:.+]], %[[DG:.+]], %{{.+}} = resid.rms_norm_grad %[[DY]], %{{.+}} statistics(%{{.+}}) gamma(%{{.+}}) sum(%[[DS]])
// CHECK-NEXT: return %[[DX]], %[[DX]], %[[DG]]
func.func @f(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %gamma: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %y, %s = resid.add_norm rms %x, %f gamma(%gamma) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>
  return %y, %s : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// A value with two readers gets one addition; one that reaches no result gets none, and needs no rule; an argument that
// reaches no result has the gradient zero. What a narrow branch was widened from gets its type back.
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME: %[[DY:[^:]+]]: tensor<4x8xf32> {resid.name = "d_out0"})
// CHECK-NEXT: %[[DX:.+]] = resid.add %[[DY]], %[[DY]] : tensor<4x8xf32>
// CHECK-NEXT: %[[DF:.+]] = arith.truncf %[[DY]] : tensor<4x8xf32> to tensor<4x8xbf16>
// CHECK-NOT: resid.add
// CHECK: %[[ZERO:.+]] = linalg.fill
// CHECK: return %[[DX]], %[[DF]], %[[ZERO]]
func.func @f(%x: tensor<4x8xf32>, %f: tensor<4x8xbf16>, %unused: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %t = math.tanh %unused : tensor<4x8xf32>
  %w = arith.extf %f : tensor<4x8xbf16> to tensor<4x8xf32>
  %s = resid.add %x, %w : tensor<4x8xf32>
  %y = resid.add %s, %x : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// Between the two types of 16 bits a gradient goes through f32, which holds both.
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME: %[[DY:[^:]+]]: tensor<8xf16> {resid.name = "d_out0"})
// CHECK: %[[WIDE:.+]] = arith.extf %[[DY]] : tensor<8xf16> to tensor<8xf32>
// CHECK-NEXT: %[[DB:.+]] = arith.truncf %[[WIDE]] : tensor<8xf32> to tensor<8xbf16>
// CHECK: return %[[DY]], %[[DB]]
func.func @f(%row: tensor<8xf16>, %bias: tensor<8xbf16>) -> tensor<8xf16> {
  %y = resid.add_bias %row, %bias : tensor<8xf16>, tensor<8xbf16>
  return %y : tensor<8xf16>
}
