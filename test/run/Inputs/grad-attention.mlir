// Causal attention with shared heads, a mask that takes keys away and dropout.
func.func @f(%q: tensor<2x4x?x16xT>, %k: tensor<2x2x?x16xT>, %v: tensor<2x2x?x16xT>, %row: tensor<?xf32>, %seed: i64,
             %step: i64) -> tensor<2x4x?x16xT> {
  %y = resid.attention %q, %k, %v mask(%row) dropout(%seed, %step) {causal, p = 0.1, site = 3}
      : tensor<2x4x?x16xT>, tensor<2x2x?x16xT>, tensor<2x2x?x16xT>, tensor<?xf32>
  return %y : tensor<2x4x?x16xT>
}
