// RUN: resid-opt %s -split-input-file --resid-grad="function=f wrt=0" 2>/dev/null | FileCheck %s

// The skip path in every placement: where skip_scale is 1, the gradient of the stream goes on as it is, and meets that of
// the branch in one sum, that of the norm's backward where there is one. Nothing is multiplied, nothing is filled with
// zeros, and no mask is saved: the only ops are those here.

// pre
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME: %[[DY:[^ :,]+]]: tensor<?x8xf32> {resid.name = "d_out0"}) -> tensor<?x8xf32>
// CHECK-NOT: {{arith.mulf|linalg|tensor.empty}}
// CHECK: %[[DD:.+]] = resid.dropout %[[DY]]
// CHECK-NOT: {{arith.mulf|linalg|tensor.empty}}
// CHECK: %[[DX:.+]], %{{.+}}, %{{.+}} = resid.rms_norm_grad %[[DD]], {{.+}} sum(%[[DY]])
// CHECK-NEXT: return %[[DX]] :
func.func @f(%x: tensor<?x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>, %seed: i64, %step: i64) -> tensor<?x8xf32> {
  %y = resid.block pre %x norm(rms gamma %g : tensor<8xf32> epsilon = 1.0e-5) : tensor<?x8xf32> {
  ^bb0(%h: tensor<?x8xf32>):
    %d = resid.dropout %h seed(%seed, %step) {p = 0.5, site = 0} : tensor<?x8xf32>
    %f = resid.add_bias %d, %b : tensor<?x8xf32>, tensor<8xf32>
    resid.yield %f : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}

// -----

// none
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME: %[[DY:[^ :,]+]]: tensor<?x8xf32> {resid.name = "d_out0"}) -> tensor<?x8xf32>
// CHECK-NOT: {{arith.mulf|linalg|tensor.empty}}
// CHECK: %[[DD:.+]] = resid.dropout %[[DY]]
// CHECK-NOT: {{arith.mulf|linalg|tensor.empty}}
// CHECK: %[[DX:.+]] = resid.add %[[DY]], %[[DD]]
// CHECK-NEXT: return %[[DX]] :
func.func @f(%x: tensor<?x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>, %seed: i64, %step: i64) -> tensor<?x8xf32> {
  %y = resid.block none %x : tensor<?x8xf32> {
  ^bb0(%h: tensor<?x8xf32>):
    %d = resid.dropout %h seed(%seed, %step) {p = 0.5, site = 0} : tensor<?x8xf32>
    %f = resid.add_bias %d, %b : tensor<?x8xf32>, tensor<8xf32>
    resid.yield %f : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}

// -----

// branch_post
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME: %[[DY:[^ :,]+]]: tensor<?x8xf32> {resid.name = "d_out0"}) -> tensor<?x8xf32>
// CHECK-NOT: {{arith.mulf|linalg|tensor.empty}}
// CHECK: %[[DN:.+]], %{{.+}}, %{{.+}} = resid.rms_norm_grad %[[DY]]
// CHECK-NOT: {{arith.mulf|linalg|tensor.empty}}
// CHECK: %[[DD:.+]] = resid.dropout %[[DN]]
// CHECK-NOT: {{arith.mulf|linalg|tensor.empty}}
// CHECK: %[[DX:.+]] = resid.add %[[DY]], %[[DD]]
// CHECK-NEXT: return %[[DX]] :
func.func @f(%x: tensor<?x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>, %seed: i64, %step: i64) -> tensor<?x8xf32> {
  %y = resid.block branch_post %x norm(rms gamma %g : tensor<8xf32> epsilon = 1.0e-5) : tensor<?x8xf32> {
  ^bb0(%h: tensor<?x8xf32>):
    %d = resid.dropout %h seed(%seed, %step) {p = 0.5, site = 0} : tensor<?x8xf32>
    %f = resid.add_bias %d, %b : tensor<?x8xf32>, tensor<8xf32>
    resid.yield %f : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}

// -----

// peri
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME: %[[DY:[^ :,]+]]: tensor<?x8xf32> {resid.name = "d_out0"}) -> tensor<?x8xf32>
// CHECK-NOT: {{arith.mulf|linalg|tensor.empty}}
// CHECK: %[[DN:.+]], %{{.+}}, %{{.+}} = resid.rms_norm_grad %[[DY]]
// CHECK-NOT: {{arith.mulf|linalg|tensor.empty}}
// CHECK: %[[DD:.+]] = resid.dropout %[[DN]]
// CHECK-NOT: {{arith.mulf|linalg|tensor.empty}}
// CHECK: %[[DX:.+]], %{{.+}}, %{{.+}} = resid.rms_norm_grad %[[DD]], {{.+}} sum(%[[DY]])
// CHECK-NEXT: return %[[DX]] :
func.func @f(%x: tensor<?x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>, %seed: i64, %step: i64) -> tensor<?x8xf32> {
  %y = resid.block peri %x norm(rms gamma %g : tensor<8xf32> epsilon = 1.0e-5) norm(rms gamma %g : tensor<8xf32> epsilon = 1.0e-5) : tensor<?x8xf32> {
  ^bb0(%h: tensor<?x8xf32>):
    %d = resid.dropout %h seed(%seed, %step) {p = 0.5, site = 0} : tensor<?x8xf32>
    %f = resid.add_bias %d, %b : tensor<?x8xf32>, tensor<8xf32>
    resid.yield %f : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}

// -----

// post
// CHECK-LABEL: func.func @f_backward(
// CHECK-SAME: %[[DY:[^ :,]+]]: tensor<?x8xf32> {resid.name = "d_out0"}) -> tensor<?x8xf32>
// CHECK-NOT: {{arith.mulf|linalg|tensor.empty}}
// CHECK: %[[DS:.+]], %{{.+}}, %{{.+}} = resid.rms_norm_grad %[[DY]]
// CHECK-NOT: {{arith.mulf|linalg|tensor.empty}}
// CHECK: %[[DD:.+]] = resid.dropout %[[DS]]
// CHECK-NOT: {{arith.mulf|linalg|tensor.empty}}
// CHECK: %[[DX:.+]] = resid.add %[[DS]], %[[DD]]
// CHECK-NEXT: return %[[DX]] :
func.func @f(%x: tensor<?x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>, %seed: i64, %step: i64) -> tensor<?x8xf32> {
  %y = resid.block post %x norm(rms gamma %g : tensor<8xf32> epsilon = 1.0e-5) : tensor<?x8xf32> {
  ^bb0(%h: tensor<?x8xf32>):
    %d = resid.dropout %h seed(%seed, %step) {p = 0.5, site = 0} : tensor<?x8xf32>
    %f = resid.add_bias %d, %b : tensor<?x8xf32>, tensor<8xf32>
    resid.yield %f : tensor<?x8xf32>
  }
  return %y : tensor<?x8xf32>
}
