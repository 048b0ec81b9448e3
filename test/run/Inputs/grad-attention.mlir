// Causal attention with shared heads, a mask that is added, and dropout. A head has no whole number of panels.
func.func @f(%q: tensor<2x4x?x24xT>, %k: tensor<2x2x?x24xT>, %v: tensor<2x2x?x24xT>, %row: tensor<?xf32>, %seed: i64,
             %step: i64) -> tensor<2x4x?x24xT> {
  %y = resid.attention %q, %k, %v mask(%row) dropout(%seed, %step) {causal, p = 0.1, site = 3}
      : tensor<2x4x?x24xT>, tensor<2x2x?x24xT>, tensor<2x2x?x24xT>, tensor<?xf32>
  return %y : tensor<2x4x?x24xT>
}

func.func @sink(%q: tensor<2x4x?x24xT>, %k: tensor<2x2x?x24xT>, %v: tensor<2x2x?x24xT>, %sink: tensor<4xT>, %seed: i64,
                %step: i64) -> tensor<2x4x?x24xT> {
  %y = resid.attention %q, %k, %v sink(%sink) dropout(%seed, %step) {cap = 1.5, causal, p = 0.1, site = 3}
      : tensor<2x4x?x24xT>, tensor<2x2x?x24xT>, tensor<2x2x?x24xT>, tensor<4xT>
  return %y : tensor<2x4x?x24xT>
}
