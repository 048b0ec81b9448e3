// Two post-norm blocks: every op in the branch of the first one has a rule for its gradient, tensor.reshape in the second has none.
func.func @scaled(%x: tensor<4x16xf32>, %b: tensor<16xf32>, %g: tensor<16xf32>) -> tensor<4x16xf32> {
  %y = resid.block post %x norm(rms gamma %g : tensor<16xf32> epsilon = 1.0e-5) : tensor<4x16xf32> {
  ^bb0(%h: tensor<4x16xf32>):
    %f = resid.add_bias %h, %b : tensor<4x16xf32>, tensor<16xf32>
    resid.yield %f : tensor<4x16xf32>
  }
  return %y : tensor<4x16xf32>
}

func.func @shaped(%x: tensor<4x16xf32>, %shape: tensor<2xindex>) -> tensor<4x16xf32> {
  %y = resid.block post %x norm(rms epsilon = 1.0e-5) : tensor<4x16xf32> {
  ^bb0(%h: tensor<4x16xf32>):
    %f = tensor.reshape %h(%shape) : (tensor<4x16xf32>, tensor<2xindex>) -> tensor<4x16xf32>
    resid.yield %f : tensor<4x16xf32>
  }
  return %y : tensor<4x16xf32>
}
