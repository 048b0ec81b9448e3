// A post-norm stack in flat ops: it has never heard of resid.block. The branch is a function.
func.func private @branch(%h: tensor<?x8xf32>, %w: tensor<8xf32>) -> tensor<?x8xf32> {
  %t = math.tanh %h : tensor<?x8xf32>
  %f = resid.add_bias %t, %w : tensor<?x8xf32>, tensor<8xf32>
  return %f : tensor<?x8xf32>
}
func.func @encoder(%x: tensor<?x8xf32>, %w: tensor<8xf32>, %gamma0: tensor<8xf32>, %beta0: tensor<8xf32>, %gamma1: tensor<8xf32>,
                   %beta1: tensor<8xf32>) -> tensor<?x8xf32> {
  %f0 = func.call @branch(%x, %w) : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %s0 = resid.add %x, %f0 : tensor<?x8xf32>
  %y0 = resid.layer_norm %s0 gamma(%gamma0) beta(%beta0) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>
  %f1 = func.call @branch(%y0, %w) : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %s1 = resid.add %y0, %f1 : tensor<?x8xf32>
  %y1 = resid.layer_norm %s1 gamma(%gamma1) beta(%beta1) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>
  return %y1 : tensor<?x8xf32>
}
