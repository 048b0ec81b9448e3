// RUN: split-file %s %t
// RUN: resid-opt %t/post.mlir -resid-convert-norm-placement="to=post_shifted" -o %t/shifted.mlir
// RUN: FileCheck %s --input-file %t/shifted.mlir --check-prefix=SHIFTED
// RUN: resid-opt %t/shifted.mlir -resid-convert-norm-placement="to=post" | FileCheck %s --check-prefixes=SHIFTED,BACK
// RUN: resid-opt %t/post.mlir -resid-convert-norm-placement="to=pre" | FileCheck %s --check-prefix=PRE
// RUN: resid-opt %t/peri.mlir -resid-convert-norm-placement="to=branch_post" 2>/dev/null | FileCheck %s --check-prefix=BRANCH
// RUN: resid-opt %t/peri.mlir -resid-convert-norm-placement="to=post" 2>%t/remarks | FileCheck %s --check-prefix=DROP
// RUN: resid-opt %t/loop.mlir -resid-convert-norm-placement="to=peri" | FileCheck %s --check-prefix=LOOP
// The record of what became of each parameter: in order, by the names of arguments, with places that count along the stream.
// Conversions that follow each other stand one after the other.

// SHIFTED: {class = "bit-exact", from = "post", function = "f", parameters = [
// SHIFTED-SAME: {action = "move", from = "entry norm", name = "embedding", to = "norm 0"},
// SHIFTED-SAME: {action = "move", from = "norm 0", name = "arg2", to = "norm 1"},
// SHIFTED-SAME: {action = "move", from = "norm 0", name = "arg3", to = "norm 1"},
// SHIFTED-SAME: {action = "move", from = "norm 1", to = "final norm"}], to = "post_shifted"}
// BACK-SAME: , {class = "bit-exact", from = "post_shifted", function = "f", parameters = [
// BACK-SAME: {action = "move", from = "norm 0", name = "embedding", to = "entry norm"},
// BACK-SAME: {action = "move", from = "norm 1", name = "arg2", to = "norm 0"},
// BACK-SAME: {action = "move", from = "norm 1", name = "arg3", to = "norm 0"},
// BACK-SAME: {action = "move", from = "final norm", to = "norm 1"}], to = "post"}]

// PRE: {class = "changes-function", from = "post", function = "f", parameters = [
// PRE-SAME: {action = "move", from = "norm 0", name = "arg2", to = "norm 0"},
// PRE-SAME: {action = "move", from = "norm 0", name = "arg3", to = "norm 0"},
// PRE-SAME: {action = "move", from = "norm 1", to = "norm 1"},
// PRE-SAME: {action = "new", name = "final_norm_gamma", to = "final norm"}], to = "pre"}]

// BRANCH: {class = "changes-function", from = "peri", function = "f", parameters = [
// BRANCH-SAME: {action = "move", from = "norm 1", name = "g2", to = "norm 0"},
// BRANCH-SAME: {action = "drop", from = "norm 0", name = "g1"},
// BRANCH-SAME: {action = "move", from = "norm 3", name = "g4", to = "norm 1"},
// BRANCH-SAME: {action = "drop", from = "norm 2", name = "g3"},
// BRANCH-SAME: {action = "move", from = "final norm", name = "g5", to = "final norm"}], to = "branch_post"}]

// DROP: {class = "changes-function", from = "peri", function = "f", parameters = [
// DROP-SAME: {action = "move", from = "norm 0", name = "g1", to = "norm 0"},
// DROP-SAME: {action = "drop", from = "norm 1", name = "g2"},
// DROP-SAME: {action = "move", from = "norm 2", name = "g3", to = "norm 1"},
// DROP-SAME: {action = "drop", from = "norm 3", name = "g4"},
// DROP-SAME: {action = "drop", from = "final norm", name = "g5"}], to = "post"}]

// LOOP: {class = "changes-function", from = "branch_post", function = "f", parameters = [
// LOOP-SAME: {action = "new", name = "norm_0_alpha", to = "norm 0"}, {action = "new", name = "norm_0_gamma", to = "norm 0"},
// LOOP-SAME: {action = "move", from = "norm 0", name = "alphas", to = "norm 1"}, {action = "move", from = "norm 0", name = "gammas", to = "norm 1"},
// LOOP-SAME: {action = "new", name = "final_norm_alpha", to = "final norm"}, {action = "new", name = "final_norm_gamma", to = "final norm"}], to = "peri"}]

//--- post.mlir
func.func @f(%x: tensor<2x8xf32>, %e: tensor<8xf32> {resid.name = "embedding"}, %g0: tensor<8xf32>, %b0: tensor<8xf32>) -> tensor<2x8xf32> {
  %g1 = arith.constant dense<3.0> : tensor<8xf32>
  %y = resid.layer_norm %x gamma(%e) {epsilon = 1.0e-5} : tensor<2x8xf32>, tensor<8xf32>
  %y0 = resid.block post %y norm(layer gamma %g0 : tensor<8xf32> beta %b0 : tensor<8xf32> epsilon = 1.0e-5) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %y1 = resid.block post %y0 norm(rms gamma %g1 : tensor<8xf32> epsilon = 1.0e-5) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  return %y1 : tensor<2x8xf32>
}

//--- peri.mlir
func.func @f(%x: tensor<2x8xf32>, %g1: tensor<8xf32> {resid.name = "g1"}, %g2: tensor<8xf32> {resid.name = "g2"},
             %g3: tensor<8xf32> {resid.name = "g3"}, %g4: tensor<8xf32> {resid.name = "g4"}, %g5: tensor<8xf32> {resid.name = "g5"}) -> tensor<2x8xf32> {
  %y0 = resid.block peri %x norm(rms gamma %g1 : tensor<8xf32> epsilon = 1.0e-5) norm(layer gamma %g2 : tensor<8xf32> epsilon = 1.0e-5) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %y1 = resid.block peri %y0 norm(rms gamma %g3 : tensor<8xf32> epsilon = 1.0e-5) norm(layer gamma %g4 : tensor<8xf32> epsilon = 1.0e-5) : tensor<2x8xf32> {
  ^bb0(%h: tensor<2x8xf32>):
    resid.yield %h : tensor<2x8xf32>
  }
  %y = resid.rms_norm %y1 gamma(%g5) {epsilon = 1.0e-5} : tensor<2x8xf32>, tensor<8xf32>
  return %y : tensor<2x8xf32>
}

//--- loop.mlir
func.func @f(%x: tensor<2x8xf32>, %as: tensor<4xf32> {resid.name = "alphas"}, %gs: tensor<4x8xf32> {resid.name = "gammas"}, %n: index) -> tensor<2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<2x8xf32> {
    %a = tensor.extract_slice %as[%i] [1] [1] : tensor<4xf32> to tensor<f32>
    %g = tensor.extract_slice %gs[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
    %t = resid.block branch_post %s norm(dyt alpha %a : tensor<f32> gamma %g : tensor<8xf32>) : tensor<2x8xf32> {
    ^bb0(%h: tensor<2x8xf32>):
      resid.yield %h : tensor<2x8xf32>
    }
    scf.yield %t : tensor<2x8xf32>
  }
  return %y : tensor<2x8xf32>
}
