// DeepNorm, in blocks and flat, with each norm; every scale and epsilon is another.

func.func @block_layer(%x: tensor<?x7xf64>, %gamma: tensor<7xf64>, %beta: tensor<7xf64>, %gate: tensor<7xf64>, %seed: i64, %step: i64) -> tensor<?x7xf64> {
  %y = resid.block post %x norm(layer gamma %gamma : tensor<7xf64> beta %beta : tensor<7xf64> epsilon = 1.0e-2) dropout(0.25, site 3, seed %seed, step %step) gate(%gate : tensor<7xf64>) {skip_scale = 2.5} : tensor<?x7xf64> {
  ^bb0(%h: tensor<?x7xf64>):
    %f = math.tanh %h : tensor<?x7xf64>
    resid.yield %f : tensor<?x7xf64>
  }
  return %y : tensor<?x7xf64>
}

func.func @block_rms(%x: tensor<?x7xf64>, %gamma: tensor<7xf64>) -> tensor<?x7xf64> {
  %y = resid.block post %x norm(rms gamma %gamma : tensor<7xf64> epsilon = 0.125) {skip_scale = 0.3, branch_scale = -1.5} : tensor<?x7xf64> {
  ^bb0(%h: tensor<?x7xf64>):
    %f = math.tanh %h : tensor<?x7xf64>
    resid.yield %f : tensor<?x7xf64>
  }
  return %y : tensor<?x7xf64>
}

func.func @block_dyt(%x: tensor<?x7xf64>, %alpha: tensor<f64>, %gamma: tensor<7xf64>) -> tensor<?x7xf64> {
  %y = resid.block post %x norm(dyt alpha %alpha : tensor<f64> gamma %gamma : tensor<7xf64>) {skip_scale = 1.7} : tensor<?x7xf64> {
  ^bb0(%h: tensor<?x7xf64>):
    %f = math.absf %h : tensor<?x7xf64>
    resid.yield %f : tensor<?x7xf64>
  }
  return %y : tensor<?x7xf64>
}

func.func @flat_dyt_constant(%x: tensor<?x7xf64>, %f: tensor<?x7xf64>) -> tensor<?x7xf64> {
  %alpha = arith.constant dense<0.75> : tensor<f64>
  %s = resid.add %x, %f {skip_scale = 3.5, branch_scale = 0.5} : tensor<?x7xf64>
  %y = resid.dyt %s alpha(%alpha) : tensor<?x7xf64>, tensor<f64>
  return %y : tensor<?x7xf64>
}

// The norm over two dimensions, of a sum that is also asked for its size.
func.func @flat_two_dimensions(%x: tensor<?x3x7xf64>, %f: tensor<?x3x7xf64>) -> tensor<?x3x7xf64> {
  %c0 = arith.constant 0 : index
  %s = resid.add %x, %f {skip_scale = 0.6} : tensor<?x3x7xf64>
  %rows = tensor.dim %s, %c0 : tensor<?x3x7xf64>
  %n = resid.layer_norm %s {epsilon = 1.0e-1, norm_rank = 2} : tensor<?x3x7xf64>
  %e = tensor.empty(%rows) : tensor<?x3x7xf64>
  %y = linalg.copy ins(%n : tensor<?x3x7xf64>) outs(%e : tensor<?x3x7xf64>) -> tensor<?x3x7xf64>
  return %y : tensor<?x3x7xf64>
}

// A block without a norm after its add, and the two that may follow it.
func.func @shifted(%x: tensor<?x7xf64>, %gamma: tensor<7xf64>, %gamma2: tensor<7xf64>, %gamma3: tensor<7xf64>) -> tensor<?x7xf64> {
  %y = resid.block pre %x norm(rms gamma %gamma : tensor<7xf64> epsilon = 1.0e-3) {skip_scale = 1.9} : tensor<?x7xf64> {
  ^bb0(%h: tensor<?x7xf64>):
    %f = math.tanh %h : tensor<?x7xf64>
    resid.yield %f : tensor<?x7xf64>
  }
  %z = resid.block post_shifted %y norm(rms gamma %gamma2 : tensor<7xf64> epsilon = 0.5) {skip_scale = 2.1} : tensor<?x7xf64> {
  ^bb0(%h: tensor<?x7xf64>):
    %f = math.tanh %h : tensor<?x7xf64>
    resid.yield %f : tensor<?x7xf64>
  }
  %n = resid.layer_norm %z gamma(%gamma3) {epsilon = 0.25, zero_centered_gamma} : tensor<?x7xf64>, tensor<7xf64>
  return %n : tensor<?x7xf64>
}

func.func @loop(%x: tensor<?x7xf64>, %alpha: tensor<f64>) -> tensor<?x7xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%h = %x) -> tensor<?x7xf64> {
    %r = resid.block post %h norm(dyt alpha %alpha : tensor<f64>) {skip_scale = 1.3} : tensor<?x7xf64> {
    ^bb0(%b: tensor<?x7xf64>):
      %f = math.absf %b : tensor<?x7xf64>
      resid.yield %f : tensor<?x7xf64>
    }
    scf.yield %r : tensor<?x7xf64>
  }
  return %y : tensor<?x7xf64>
}
