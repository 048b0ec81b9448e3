// RUN: resid-opt %s --keep-argument-names -resid-fold-deepnorm -resid-fold-layer-scale -resid-fold-norm-affine | FileCheck %s
// What the folds record: which parameter, of which norm before and after. Norms are numbered through the function.

// CHECK: module attributes {resid.manifest = [
// CHECK-SAME: {class = "exact", from = "post", function = "stack", parameters = [{action = "fold", from = "norm 1", name = "slope", to = "norm 1"}], to = "post"},
// CHECK-SAME: {class = "exact", from = "post", function = "stack", parameters = [{action = "fold", name = "gate"}], to = "post"},
// CHECK-SAME: {class = "exact", from = "post", function = "stack", parameters = [{action = "fold", from = "norm 1", name = "scale"}, {action = "fold", from = "norm 1"}], to = "post"}]}
func.func @stack(%x: tensor<4x8xf32>, %other: tensor<8xf32>, %slope: tensor<f32>, %scale: tensor<8xf32>, %gate: tensor<8xf32>, %w: tensor<8x8xf32>, %head: tensor<8x6xf32>, %start: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %shift = arith.constant dense<0.5> : tensor<8xf32>
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  %y = resid.block post %x norm(rms gamma %other : tensor<8xf32> epsilon = 1.0e-5) : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    resid.yield %h : tensor<4x8xf32>
  }
  %z = resid.block post %y norm(dyt alpha %slope : tensor<f32> gamma %scale : tensor<8xf32> beta %shift : tensor<8xf32>) gate(%gate : tensor<8xf32>) {skip_scale = 2.0} : tensor<4x8xf32> {
  ^bb0(%h: tensor<4x8xf32>):
    %f = linalg.matmul ins(%h, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
    resid.yield %f : tensor<4x8xf32>
  }
  %r = linalg.matmul ins(%z, %head : tensor<4x8xf32>, tensor<8x6xf32>) outs(%start : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}

// Nothing folds here, and nothing is recorded.
// CHECK-LABEL: func.func @nothing
func.func @nothing(%x: tensor<4x8xf32>, %g: tensor<8xf32>) -> tensor<4x8xf32> {
  %n = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<4x8xf32>, tensor<8xf32>
  return %n : tensor<4x8xf32>
}
