func.func @group(%x: tensor<?x?xf32>, %g: tensor<?xf32>) -> tensor<?x?xf32> {
  %y = resid.group_norm %x gamma(%g) {epsilon = 1.0e-5, groups = 1, zero_centered_gamma} : tensor<?x?xf32>, tensor<?xf32>
  return %y : tensor<?x?xf32>
}
func.func @layer(%x: tensor<?x?xf32>, %g: tensor<?xf32>) -> tensor<?x?xf32> {
  %y = resid.layer_norm %x gamma(%g) {epsilon = 1.0e-5, zero_centered_gamma} : tensor<?x?xf32>, tensor<?xf32>
  return %y : tensor<?x?xf32>
}
func.func @five(%x: tensor<?x?xf32>, %g: tensor<?xf32>) -> tensor<?x?xf32> {
  %y = resid.group_norm %x gamma(%g) {epsilon = 1.0e-5, groups = 5} : tensor<?x?xf32>, tensor<?xf32>
  return %y : tensor<?x?xf32>
}
