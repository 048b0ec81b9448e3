// A number of heads that is open, of q, of k and of both.

func.func @both(%q: tensor<1x?x3x4xf64>, %k: tensor<1x?x3x4xf64>) -> tensor<1x?x3x4xf64> {
  %y = resid.attention %q, %k, %k : tensor<1x?x3x4xf64>, tensor<1x?x3x4xf64>, tensor<1x?x3x4xf64>
  return %y : tensor<1x?x3x4xf64>
}

func.func @keys(%q: tensor<1x10x3x4xf64>, %k: tensor<1x?x3x4xf64>) -> tensor<1x10x3x4xf64> {
  %y = resid.attention %q, %k, %k : tensor<1x10x3x4xf64>, tensor<1x?x3x4xf64>, tensor<1x?x3x4xf64>
  return %y : tensor<1x10x3x4xf64>
}

func.func @queries(%q: tensor<1x?x3x4xf64>, %k: tensor<1x1x3x4xf64>) -> tensor<1x?x3x4xf64> {
  %y = resid.attention %q, %k, %k : tensor<1x?x3x4xf64>, tensor<1x1x3x4xf64>, tensor<1x1x3x4xf64>
  return %y : tensor<1x?x3x4xf64>
}
