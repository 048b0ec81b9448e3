// Two linear layers with weights in both orders, a rotation and a product, in a mixture of types and with open sizes.
func.func @f(%x: tensor<2x?x24xbf16>, %w: tensor<40x24xf32>, %b: tensor<40xf32>, %v: tensor<40x16xbf16>,
             %keys: tensor<2x?x16xbf16>, %cos: tensor<64x8xf32>, %sin: tensor<64x8xf32>, %past: i64) -> tensor<2x?x?xf32> {
  %h = resid.linear %x, %w bias(%b) : tensor<2x?x24xbf16>, tensor<40x24xf32>, tensor<40xf32> -> tensor<2x?x40xf32>
  %q = resid.linear %h, %v {transposed} : tensor<2x?x40xf32>, tensor<40x16xbf16> -> tensor<2x?x16xbf16>
  %r = resid.rotary %q cos(%cos) sin(%sin) offset(%past) : tensor<2x?x16xbf16>, tensor<64x8xf32>, tensor<64x8xf32>
  %one = arith.constant 1 : index
  %n = tensor.dim %x, %one : tensor<2x?x24xbf16>
  %m = tensor.dim %keys, %one : tensor<2x?x16xbf16>
  %empty = tensor.empty(%n, %m) : tensor<2x?x?xf32>
  %zero = arith.constant 0.0 : f32
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x?x?xf32>) -> tensor<2x?x?xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(b, i, j, d) -> (b, i, d)>, affine_map<(b, i, j, d) -> (b, j, d)>,
                                        affine_map<(b, i, j, d) -> (b, i, j)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%r, %keys : tensor<2x?x16xbf16>, tensor<2x?x16xbf16>) outs(%start : tensor<2x?x?xf32>) {
  ^bb0(%a: bf16, %k: bf16, %old: f32):
    %p = arith.extf %a : bf16 to f32
    %q0 = arith.extf %k : bf16 to f32
    %t = arith.mulf %p, %q0 : f32
    %s = arith.addf %old, %t : f32
    linalg.yield %s : f32
  } -> tensor<2x?x?xf32>
  return %y : tensor<2x?x?xf32>
}
