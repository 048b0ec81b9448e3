// call: right f32[3]=random:1
func.func @right(%x: tensor<3xf32>) -> tensor<3xf32> {
  %y = math.tanh %x : tensor<3xf32>
  return %y : tensor<3xf32>
}
// call: refused f32[1x1x2x1]=0 f32[1x1x1x1]=1 7
func.func @refused(%cache: tensor<1x1x2x1xf32>, %x: tensor<1x1x1x1xf32>, %past: i64) -> tensor<1x1x2x1xf32> {
  %y = resid.append %cache, %x past(%past) : tensor<1x1x2x1xf32>, tensor<1x1x1x1xf32>
  return %y : tensor<1x1x2x1xf32>
}
// call: unavailable f32[3]=random:1
func.func @unavailable(%x: tensor<3xf32>) -> tensor<3xf80> {
  %y = arith.extf %x : tensor<3xf32> to tensor<3xf80>
  return %y : tensor<3xf80>
}
