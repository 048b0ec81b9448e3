// The residual add and the layer norm that are measured against the ones written by hand.
func.func @add_layer_norm(%x: tensor<?x?xf32>, %f: tensor<?x?xf32>, %gamma: tensor<?xf32>, %beta: tensor<?xf32>)
    -> tensor<?x?xf32> {
  %s = resid.add %x, %f : tensor<?x?xf32>
  %y = resid.layer_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>
  return %y : tensor<?x?xf32>
}
func.func @add_layer_norm_768(%x: tensor<?x768xf32>, %f: tensor<?x768xf32>, %gamma: tensor<768xf32>,
                              %beta: tensor<768xf32>) -> tensor<?x768xf32> {
  %s = resid.add %x, %f : tensor<?x768xf32>
  %y = resid.layer_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<?x768xf32>, tensor<768xf32>, tensor<768xf32>
  return %y : tensor<?x768xf32>
}
