// Sizes that are open, for tokens.test.
func.func @loss(%x: tensor<?x?xf32>, %l: tensor<?xi64>) -> tensor<?xf32> {
  %loss = resid.cross_entropy %x labels(%l) {ignore_index = -100} : tensor<?x?xf32>, tensor<?xi64>
  return %loss : tensor<?xf32>
}
func.func @lookup(%ids: tensor<?xi64>, %t: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = resid.embedding %ids, %t : tensor<?xi64>, tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
func.func @backward(%dy: tensor<?x?xf32>, %ids: tensor<?xi64>, %t: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %y = resid.embedding_grad %dy, %ids like(%t) : tensor<?xi64>, tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
