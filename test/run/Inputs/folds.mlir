// Programs on which several folds meet: weights that two of them change, and parameters that they share.

// The one layer of the branch reads the norm and is gated: W becomes diag(γ)·W·diag(g), b becomes (b + β·W) ⊙ g.
func.func @one_layer(%x: tensor<?x6xf64>, %gamma: tensor<6xf64>, %beta: tensor<6xf64>, %w: tensor<6x6xf64>, %b: tensor<6xf64>, %gate: tensor<6xf64>) -> tensor<?x6xf64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %y = resid.block pre %x norm(layer gamma %gamma : tensor<6xf64> beta %beta : tensor<6xf64> epsilon = 1.0e-5) gate(%gate : tensor<6xf64>) {branch_scale = 0.5} : tensor<?x6xf64> {
  ^bb0(%h: tensor<?x6xf64>):
    %rows = tensor.dim %h, %c0 : tensor<?x6xf64>
    %e = tensor.empty(%rows) : tensor<?x6xf64>
    %zeros = linalg.fill ins(%zero : f64) outs(%e : tensor<?x6xf64>) -> tensor<?x6xf64>
    %m = linalg.matmul ins(%h, %w : tensor<?x6xf64>, tensor<6x6xf64>) outs(%zeros : tensor<?x6xf64>) -> tensor<?x6xf64>
    %f = resid.add_bias %m, %b : tensor<?x6xf64>, tensor<6xf64>
    resid.yield %f : tensor<?x6xf64>
  }
  return %y : tensor<?x6xf64>
}

// The same without a bias: whichever fold comes first, the new bias is gated too.
func.func @one_layer_without_bias(%x: tensor<?x6xf64>, %gamma: tensor<6xf64>, %beta: tensor<6xf64>, %w: tensor<6x6xf64>, %gate: tensor<f64>) -> tensor<?x6xf64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %y = resid.block pre %x norm(layer gamma %gamma : tensor<6xf64> beta %beta : tensor<6xf64> epsilon = 1.0e-5) gate(%gate : tensor<f64>) : tensor<?x6xf64> {
  ^bb0(%h: tensor<?x6xf64>):
    %rows = tensor.dim %h, %c0 : tensor<?x6xf64>
    %e = tensor.empty(%rows) : tensor<?x6xf64>
    %zeros = linalg.fill ins(%zero : f64) outs(%e : tensor<?x6xf64>) -> tensor<?x6xf64>
    %f = linalg.matmul ins(%h, %w : tensor<?x6xf64>, tensor<6x6xf64>) outs(%zeros : tensor<?x6xf64>) -> tensor<?x6xf64>
    resid.yield %f : tensor<?x6xf64>
  }
  return %y : tensor<?x6xf64>
}

// One weight and one gate in two DeepNorm blocks, a head that reads the last norm, and gamma again in a norm that stays.
func.func @shared(%x: tensor<?x6xf64>, %alpha: tensor<f64>, %gamma: tensor<6xf64>, %w: tensor<6x6xf64>, %gate: tensor<6xf64>, %head: tensor<6x4xf64>, %start: tensor<?x4xf64>) -> tensor<?x4xf64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %rows = tensor.dim %x, %c0 : tensor<?x6xf64>
  %e = tensor.empty(%rows) : tensor<?x6xf64>
  %zeros = linalg.fill ins(%zero : f64) outs(%e : tensor<?x6xf64>) -> tensor<?x6xf64>
  %n = resid.rms_norm %x gamma(%gamma) {epsilon = 1.0e-3} : tensor<?x6xf64>, tensor<6xf64>
  %y = resid.block post %n norm(dyt alpha %alpha : tensor<f64> gamma %gamma : tensor<6xf64>) gate(%gate : tensor<6xf64>) {skip_scale = 1.5} : tensor<?x6xf64> {
  ^bb0(%h: tensor<?x6xf64>):
    %f = linalg.matmul ins(%h, %w : tensor<?x6xf64>, tensor<6x6xf64>) outs(%zeros : tensor<?x6xf64>) -> tensor<?x6xf64>
    resid.yield %f : tensor<?x6xf64>
  }
  %z = resid.block post %y norm(dyt alpha %alpha : tensor<f64> gamma %gamma : tensor<6xf64> zero_centered_gamma) gate(%gate : tensor<6xf64>) {skip_scale = 0.5} : tensor<?x6xf64> {
  ^bb0(%h: tensor<?x6xf64>):
    %f = linalg.matmul ins(%h, %w : tensor<?x6xf64>, tensor<6x6xf64>) outs(%zeros : tensor<?x6xf64>) -> tensor<?x6xf64>
    resid.yield %f : tensor<?x6xf64>
  }
  %r = linalg.matmul ins(%z, %head : tensor<?x6xf64>, tensor<6x4xf64>) outs(%start : tensor<?x4xf64>) -> tensor<?x4xf64>
  return %r : tensor<?x4xf64>
}

// Two norms on one chain of layers, parameters constant here and arguments there.
func.func @mixed(%x: tensor<?x3xf64>, %gamma: tensor<3xf64>, %w: tensor<3x2xf64>, %start: tensor<?x2xf64>) -> tensor<?x2xf64> {
  %gamma2 = arith.constant dense<[-1.5, 0.75]> : tensor<2xf64>
  %beta2 = arith.constant dense<[3.0, 5.0]> : tensor<2xf64>
  %v = arith.constant dense<[[1.0, -2.0], [0.5, 4.0]]> : tensor<2x2xf64>
  %zero = arith.constant 0.0 : f64
  %zeros = linalg.fill ins(%zero : f64) outs(%start : tensor<?x2xf64>) -> tensor<?x2xf64>
  %n = resid.rms_norm %x gamma(%gamma) {epsilon = 1.0e-3} : tensor<?x3xf64>, tensor<3xf64>
  %h = linalg.matmul ins(%n, %w : tensor<?x3xf64>, tensor<3x2xf64>) outs(%start : tensor<?x2xf64>) -> tensor<?x2xf64>
  %m = resid.layer_norm %h gamma(%gamma2) beta(%beta2) {epsilon = 1.0e-3} : tensor<?x2xf64>, tensor<2xf64>, tensor<2xf64>
  %f = linalg.matmul ins(%m, %v : tensor<?x2xf64>, tensor<2x2xf64>) outs(%zeros : tensor<?x2xf64>) -> tensor<?x2xf64>
  %y = resid.add %h, %f {branch_scale = 0.25} : tensor<?x2xf64>
  return %y : tensor<?x2xf64>
}
