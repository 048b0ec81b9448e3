// The backward of layer norm with its residual gradient, and of RMS norm in bf16: rows past the cache, beside sums down the rows. Widths: any,
// rows that end inside of cache lines, and rows of whole lines.
func.func @layer_any(%dy: tensor<?x?xf32>, %x: tensor<?x?xf32>, %mean: tensor<?xf32>, %correction: tensor<?xf32>, %rstd: tensor<?xf32>,
                     %gamma: tensor<?xf32>, %dsum: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %dx, %dgamma, %dbeta = resid.layer_norm_grad %dy, %x statistics(%mean, %correction, %rstd) gamma(%gamma) sum(%dsum)
      : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>
  return %dx, %dgamma, %dbeta : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>
}
func.func @layer_136(%dy: tensor<?x136xf32>, %x: tensor<?x136xf32>, %mean: tensor<?xf32>, %correction: tensor<?xf32>, %rstd: tensor<?xf32>,
                     %gamma: tensor<136xf32>, %dsum: tensor<?x136xf32>) -> (tensor<?x136xf32>, tensor<136xf32>, tensor<136xf32>) {
  %dx, %dgamma, %dbeta = resid.layer_norm_grad %dy, %x statistics(%mean, %correction, %rstd) gamma(%gamma) sum(%dsum)
      : tensor<?x136xf32>, tensor<?x136xf32>, tensor<?xf32>, tensor<136xf32>
  return %dx, %dgamma, %dbeta : tensor<?x136xf32>, tensor<136xf32>, tensor<136xf32>
}
func.func @rms_any(%dy: tensor<?x?xbf16>, %x: tensor<?x?xbf16>, %rstd: tensor<?xf32>, %gamma: tensor<?xf32>)
    -> (tensor<?x?xbf16>, tensor<?xf32>) {
  %dx, %dgamma, %dbeta = resid.rms_norm_grad %dy, %x statistics(%rstd) gamma(%gamma)
      : tensor<?x?xbf16>, tensor<?x?xbf16>, tensor<?xf32>, tensor<?xf32>
  return %dx, %dgamma : tensor<?x?xbf16>, tensor<?xf32>
}
func.func @rms_1024(%dy: tensor<?x1024xbf16>, %x: tensor<?x1024xbf16>, %rstd: tensor<?xf32>, %gamma: tensor<1024xf32>)
    -> (tensor<?x1024xbf16>, tensor<1024xf32>) {
  %dx, %dgamma, %dbeta = resid.rms_norm_grad %dy, %x statistics(%rstd) gamma(%gamma)
      : tensor<?x1024xbf16>, tensor<?x1024xbf16>, tensor<?xf32>, tensor<1024xf32>
  return %dx, %dgamma : tensor<?x1024xbf16>, tensor<1024xf32>
}
