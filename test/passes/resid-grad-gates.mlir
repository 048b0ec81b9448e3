// RUN: resid-opt %s -split-input-file --resid-grad=function=f | FileCheck %s
// RUN: resid-opt %s -split-input-file --resid-grad="function=f wrt=0,1" | FileCheck %s --check-prefix=FROZEN

// The branch is saved for the gradient of the gate, and for nothing else.
// CHECK-LABEL: func.func @f_forward(
// CHECK: %[[BRANCH:.+]] = resid.add_bias
// CHECK: return %{{.+}}, %[[BRANCH]] :
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME: %[[GATE:[^:]+]]: tensor<8xf32> {resid.name = "gate"}, %[[B:[^:]+]]: tensor<8xf32>, %[[SAVED:[^:]+]]: tensor<4x8xf32> {resid.name = "saved0"}, %[[DY:[^:]+]]: tensor<4x8xf32> {resid.name = "d_out0"})
// CHECK: %[[DF:.+]] = linalg.generic {{.+}} ins(%[[DY]], %[[GATE]] :
// CHECK-NEXT: ^bb0(%[[D:.+]]: f32, %[[G:.+]]: f32, %{{.+}}: f32):
// CHECK-NEXT: %[[GATED:.+]] = arith.mulf %[[G]], %[[D]] : f32
// CHECK-NEXT: %[[HALF:.+]] = arith.constant 5.000000e-01 : f32
// CHECK-NEXT: arith.mulf %[[HALF]], %[[GATED]] : f32
// CHECK: %[[DGATE:.+]] = resid.gate_grad %[[DY]], %[[SAVED]] {branch_scale = 5.000000e-01 : f64} : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<8xf32>
// CHECK: return %[[DY]], %[[DF]], %[[DGATE]], %{{.+}} :

// FROZEN-LABEL: func.func @f_forward(
// FROZEN: return %{{[^,]+}} : tensor<4x8xf32>
// FROZEN-LABEL: func.func @f_backward(
// FROZEN-NOT: saved
// FROZEN-NOT: resid.gate_grad
// FROZEN: return
func.func @f(%x: tensor<4x8xf32>, %h: tensor<4x8xf32>, %gate: tensor<8xf32> {resid.name = "gate"}, %b: tensor<8xf32>)
    -> tensor<4x8xf32> {
  %f = resid.add_bias %h, %b : tensor<4x8xf32>, tensor<8xf32>
  %y = resid.add %x, %f gate(%gate) {branch_scale = 0.5} : tensor<4x8xf32>, tensor<8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// Of a dynamic tanh x alone is saved; its backward takes in the residual gradient.
// CHECK-LABEL: func.func @f_forward(
// CHECK: %[[S:.+]] = resid.add
// CHECK: return %{{.+}}, %[[S]], %[[S]] :
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME: %[[S:[^:]+]]: tensor<4x8xf32> {resid.name = "saved0"}, %[[DY:[^:]+]]: tensor<4x8xf32> {resid.name = "d_out0"}, %[[DS:[^:]+]]: tensor<4x8xf32> {resid.name = "d_out1"})
// CHECK-NEXT: %[[DX:.+]], %[[DA:.+]], %[[DG:.+]], %{{.+}} = resid.dyt_grad %[[DY]], %[[S]] alpha(%{{.+}}) gamma(%{{.+}}) sum(%[[DS]])
// CHECK-NEXT: return %[[DX]], %[[DX]], %[[DA]], %[[DG]]
func.func @f(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %alpha: tensor<f32>, %gamma: tensor<8xf32>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %s = resid.add %x, %f : tensor<4x8xf32>
  %y = resid.dyt %s alpha(%alpha) gamma(%gamma) : tensor<4x8xf32>, tensor<f32>, tensor<8xf32>
  return %y, %s : tensor<4x8xf32>, tensor<4x8xf32>
}
