// Loops over layers whose weights are slices of stacks. The stacks are transformed as a whole, before the loop.

// Norm, layer and gate of each layer; stacks have their layers along different axes. No bias: a stack of new ones.
func.func @layers(%x: tensor<4x6xf64>, %gammas: tensor<3x6xf64>, %betas: tensor<3x6xf64>, %ws: tensor<6x3x6xf64>, %gates: tensor<3x6xf64>) -> tensor<4x6xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zeros = arith.constant dense<0.0> : tensor<4x6xf64>
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %x) -> tensor<4x6xf64> {
    %gamma = tensor.extract_slice %gammas[%i, 0] [1, 6] [1, 1] : tensor<3x6xf64> to tensor<6xf64>
    %beta = tensor.extract_slice %betas[%i, 0] [1, 6] [1, 1] : tensor<3x6xf64> to tensor<6xf64>
    %gate = tensor.extract_slice %gates[%i, 0] [1, 6] [1, 1] : tensor<3x6xf64> to tensor<6xf64>
    %r = resid.block pre %s norm(layer gamma %gamma : tensor<6xf64> beta %beta : tensor<6xf64> epsilon = 1.0e-3) gate(%gate : tensor<6xf64>) : tensor<4x6xf64> {
    ^bb0(%h: tensor<4x6xf64>):
      %w = tensor.extract_slice %ws[0, %i, 0] [6, 1, 6] [1, 1, 1] : tensor<6x3x6xf64> to tensor<6x6xf64>
      %f = linalg.matmul ins(%h, %w : tensor<4x6xf64>, tensor<6x6xf64>) outs(%zeros : tensor<4x6xf64>) -> tensor<4x6xf64>
      resid.yield %f : tensor<4x6xf64>
    }
    scf.yield %r : tensor<4x6xf64>
  }
  return %y : tensor<4x6xf64>
}

// One gamma and one weight for all layers, a bias of each; alpha of each, multiplied by skip_scale.
func.func @mixed(%x: tensor<4x6xf64>, %alphas: tensor<3xf64>, %gamma: tensor<6xf64>, %w: tensor<6x6xf64>, %bs: tensor<3x6xf64>, %gate: tensor<6xf64>) -> tensor<4x6xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zeros = arith.constant dense<0.0> : tensor<4x6xf64>
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %x) -> tensor<4x6xf64> {
    %alpha = tensor.extract_slice %alphas[%i] [1] [1] : tensor<3xf64> to tensor<f64>
    %r = resid.block post %s norm(dyt alpha %alpha : tensor<f64> gamma %gamma : tensor<6xf64>) gate(%gate : tensor<6xf64>) {skip_scale = 1.25} : tensor<4x6xf64> {
    ^bb0(%h: tensor<4x6xf64>):
      %m = linalg.matmul ins(%h, %w : tensor<4x6xf64>, tensor<6x6xf64>) outs(%zeros : tensor<4x6xf64>) -> tensor<4x6xf64>
      %b = tensor.extract_slice %bs[%i, 0] [1, 6] [1, 1] : tensor<3x6xf64> to tensor<6xf64>
      %f = resid.add_bias %m, %b : tensor<4x6xf64>, tensor<6xf64>
      resid.yield %f : tensor<4x6xf64>
    }
    scf.yield %r : tensor<4x6xf64>
  }
  return %y : tensor<4x6xf64>
}

// Constant stacks, and beta that goes into a bias of each layer.
func.func @constants(%x: tensor<4x2xf64>, %bs: tensor<2x2xf64>) -> tensor<4x2xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zeros = arith.constant dense<0.0> : tensor<4x2xf64>
  %gammas = arith.constant dense<[[0.5, -1.25], [3.0, 2.0]]> : tensor<2x2xf64>
  %betas = arith.constant dense<[[0.25, 1.75], [-3.0, 0.125]]> : tensor<2x2xf64>
  %ws = arith.constant dense<[[[1.0, -2.0], [0.5, 4.0]], [[-3.0, 0.125], [0.75, 6.0]]]> : tensor<2x2x2xf64>
  %y = scf.for %i = %c0 to %c2 step %c1 iter_args(%s = %x) -> tensor<4x2xf64> {
    %gamma = tensor.extract_slice %gammas[%i, 0] [1, 2] [1, 1] : tensor<2x2xf64> to tensor<2xf64>
    %beta = tensor.extract_slice %betas[%i, 0] [1, 2] [1, 1] : tensor<2x2xf64> to tensor<2xf64>
    %w = tensor.extract_slice %ws[%i, 0, 0] [1, 2, 2] [1, 1, 1] : tensor<2x2x2xf64> to tensor<2x2xf64>
    %n = resid.rms_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-3} : tensor<4x2xf64>, tensor<2xf64>, tensor<2xf64>
    %m = linalg.matmul ins(%n, %w : tensor<4x2xf64>, tensor<2x2xf64>) outs(%zeros : tensor<4x2xf64>) -> tensor<4x2xf64>
    %b = tensor.extract_slice %bs[%i, 0] [1, 2] [1, 1] : tensor<2x2xf64> to tensor<2xf64>
    %f = resid.add_bias %m, %b : tensor<4x2xf64>, tensor<2xf64>
    %r = resid.add %s, %f {branch_scale = 0.75} : tensor<4x2xf64>
    scf.yield %r : tensor<4x2xf64>
  }
  return %y : tensor<4x2xf64>
}

// One weight for all layers, of sizes that are known at run time, and a gate of each layer: a stack of weights.
func.func @dynamic_weight(%x: tensor<4x?xf64>, %w: tensor<?x?xf64>, %b: tensor<?xf64>, %gates: tensor<3xf64>, %zeros: tensor<4x?xf64>) -> tensor<4x?xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f64
  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %x) -> tensor<4x?xf64> {
    %start = linalg.fill ins(%zero : f64) outs(%zeros : tensor<4x?xf64>) -> tensor<4x?xf64>
    %gate = tensor.extract_slice %gates[%i] [1] [1] : tensor<3xf64> to tensor<f64>
    %m = linalg.matmul ins(%s, %w : tensor<4x?xf64>, tensor<?x?xf64>) outs(%start : tensor<4x?xf64>) -> tensor<4x?xf64>
    %f = resid.add_bias %m, %b : tensor<4x?xf64>, tensor<?xf64>
    %r = resid.add %s, %f gate(%gate) {skip_scale = 0.5} : tensor<4x?xf64>, tensor<f64>
    scf.yield %r : tensor<4x?xf64>
  }
  return %y : tensor<4x?xf64>
}
