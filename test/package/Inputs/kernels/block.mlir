func.func @block(%x: tensor<?x8xf32>, %f: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %y = resid.add %x, %f : tensor<?x8xf32>
  return %y : tensor<?x8xf32>
}
