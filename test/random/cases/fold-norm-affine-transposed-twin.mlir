// resid-fold-norm-affine gave a layer that reads a weight the weight that it had made for one that reads it transposed.
// passes: fold-norm-affine
// entry: main --arg=f64[2x4]=random:1 --arg=f64[4]=random:2 --arg=f64[4x4]=random:3 --arg=f64[2x4]=0
#x = affine_map<(i, j, k) -> (i, k)>
#w = affine_map<(i, j, k) -> (j, k)>
#y = affine_map<(i, j, k) -> (i, j)>
func.func @main(%x: tensor<2x4xf64>, %g: tensor<4xf64>, %w: tensor<4x4xf64>, %zeros: tensor<2x4xf64>) -> (tensor<2x4xf64>, tensor<2x4xf64>) {
  %n = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<2x4xf64>, tensor<4xf64>
  %a = linalg.matmul ins(%n, %w : tensor<2x4xf64>, tensor<4x4xf64>) outs(%zeros : tensor<2x4xf64>) -> tensor<2x4xf64>
  %b = linalg.matmul indexing_maps = [#x, #w, #y] ins(%n, %w : tensor<2x4xf64>, tensor<4x4xf64>) outs(%zeros : tensor<2x4xf64>) -> tensor<2x4xf64>
  return %a, %b : tensor<2x4xf64>, tensor<2x4xf64>
}
