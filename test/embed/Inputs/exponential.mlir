func.func @exp_f32(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = math.exp %x : tensor<?xf32>
  return %y : tensor<?xf32>
}

func.func @exp_f64(%x: tensor<?xf64>) -> tensor<?xf64> {
  %y = math.exp %x : tensor<?xf64>
  return %y : tensor<?xf64>
}
