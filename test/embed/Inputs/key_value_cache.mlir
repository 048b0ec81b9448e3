// One step of decoding: new keys and values go into caches, which attention then reads.
func.func @step(%q: tensor<1x4x?x8xf32>, %k: tensor<1x2x?x8xf32>, %v: tensor<1x2x?x8xf32>, %k_cache: tensor<1x2x512x8xf32>,
                %v_cache: tensor<1x2x512x8xf32>, %past: i64)
    -> (tensor<1x4x?x8xf32>, tensor<1x2x512x8xf32>, tensor<1x2x512x8xf32>) {
  %keys = resid.append %k_cache, %k past(%past) : tensor<1x2x512x8xf32>, tensor<1x2x?x8xf32>
  %values = resid.append %v_cache, %v past(%past) : tensor<1x2x512x8xf32>, tensor<1x2x?x8xf32>
  %y = resid.attention %q, %keys, %values past(%past) {causal}
       : tensor<1x4x?x8xf32>, tensor<1x2x512x8xf32>, tensor<1x2x512x8xf32>
  return %y, %keys, %values : tensor<1x4x?x8xf32>, tensor<1x2x512x8xf32>, tensor<1x2x512x8xf32>
}

func.func @append(%cache: tensor<1x2x512x8xf32>, %x: tensor<1x2x?x8xf32>, %past: i64) -> tensor<1x2x512x8xf32> {
  %y = resid.append %cache, %x past(%past) : tensor<1x2x512x8xf32>, tensor<1x2x?x8xf32>
  return %y : tensor<1x2x512x8xf32>
}
