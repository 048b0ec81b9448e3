func.func @f(%x: tensor<?xf32> {resid.strided}) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
