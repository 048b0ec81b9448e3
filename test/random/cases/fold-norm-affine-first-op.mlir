// resid-fold-norm-affine put the ops that make new weights in front of the function's first op, which it had erased.
// passes: fold-norm-affine
// entry: main --arg=f64[2x4]=random:1 --arg=f64[4]=random:2 --arg=f64[4]=random:3 --arg=f64[4x4]=random:4 --arg=f64[4]=random:5 --arg=f64[4]=random:6 --arg=f64[4x4]=random:7 --arg=f64[2x4]=0
func.func @main(%x: tensor<2x?xf64>, %g1: tensor<?xf64>, %b1: tensor<?xf64>, %w1: tensor<?x?xf64>, %g2: tensor<?xf64>, %b2: tensor<?xf64>,
                %w2: tensor<?x?xf64>, %zeros: tensor<2x?xf64>) -> tensor<2x?xf64> {
  %n1 = resid.layer_norm %x gamma(%g1) beta(%b1) {epsilon = 1.0e-5} : tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>
  %m1 = linalg.matmul ins(%n1, %w1 : tensor<2x?xf64>, tensor<?x?xf64>) outs(%zeros : tensor<2x?xf64>) -> tensor<2x?xf64>
  %n2 = resid.layer_norm %m1 gamma(%g2) beta(%b2) {epsilon = 1.0e-5} : tensor<2x?xf64>, tensor<?xf64>, tensor<?xf64>
  %m2 = linalg.matmul ins(%n2, %w2 : tensor<2x?xf64>, tensor<?x?xf64>) outs(%zeros : tensor<2x?xf64>) -> tensor<2x?xf64>
  return %m2 : tensor<2x?xf64>
}
