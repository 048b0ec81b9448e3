// Two post-norm blocks: every op in the branch of the first one has a rule for its gradient, math.tanh in the second has none.
func.func @scaled(%x: tensor<4x16xf32>, %b: tensor<16xf32>, %g: tensor<16xf32>) -> tensor<4x16xf32> {
  %y = resid.block post %x norm(rms gamma %g : tensor<16xf32> epsilon = 1.0e-5) : tensor<4x16xf32> {
  ^bb0(%h: tensor<4x16xf32>):
    %f = resid.add_bias %h, %b : tensor<4x16xf32>, tensor<16xf32>
    resid.yield %f : tensor<4x16xf32>
  }
  return %y : tensor<4x16xf32>
}

func.func @squashed(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %y = resid.block post %x norm(rms epsilon = 1.0e-5) : tensor<4x16xf32> {
  ^bb0(%h: tensor<4x16xf32>):
    %f = math.tanh %h : tensor<4x16xf32>
    resid.yield %f : tensor<4x16xf32>
  }
  return %y : tensor<4x16xf32>
}
