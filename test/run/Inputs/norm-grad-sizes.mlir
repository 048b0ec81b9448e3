// The backward of an RMS norm whose number of rows is known at run time only.
func.func @open(%dy: tensor<?x8xf32>, %x: tensor<?x8xf32>, %rstd: tensor<?xf32>, %gamma: tensor<8xf32>)
    -> (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %dx:3 = resid.rms_norm_grad %dy, %x statistics(%rstd) gamma(%gamma)
      : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?xf32>, tensor<8xf32>
  return %dx#0, %dx#1, %dx#2 : tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>
}
