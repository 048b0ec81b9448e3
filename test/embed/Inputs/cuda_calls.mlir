func.func @add(%x: tensor<?x40xf32>, %f: tensor<?x40xf32>) -> tensor<?x40xf32> {
  %sum = resid.add %x, %f : tensor<?x40xf32>
  return %sum : tensor<?x40xf32>
}
func.func @column_sums(%x: tensor<?x40xf32>) -> tensor<40xf32> {
  %zero = arith.constant dense<0.0> : tensor<40xf32>
  %sums = linalg.reduce { arith.addf } ins(%x : tensor<?x40xf32>) outs(%zero : tensor<40xf32>) dimensions = [0]
  return %sums : tensor<40xf32>
}
