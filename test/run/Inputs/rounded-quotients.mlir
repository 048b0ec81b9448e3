func.func @integers(%x: tensor<?x508xf32>, %scale: tensor<?xf32>) -> tensor<?x508xi8> {
  %q = resid.quantize %x scale(%scale) {granularity = row} : tensor<?x508xf32>, tensor<?xf32>
  return %q : tensor<?x508xi8>
}
