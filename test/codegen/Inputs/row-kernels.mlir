// The kernels whose assembly and bits the tests of the vector path look at: both results along the rows, every width.
func.func @add_layer(%x: tensor<?x?xf32>, %f: tensor<?x?xf32>, %gamma: tensor<?xf32>, %beta: tensor<?xf32>)
    -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %s = resid.add %x, %f : tensor<?x?xf32>
  %y = resid.layer_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>
  return %y, %s : tensor<?x?xf32>, tensor<?x?xf32>
}
func.func @add_rms(%x: tensor<?x?xf32>, %f: tensor<?x?xf32>, %gamma: tensor<?xf32>)
    -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %s = resid.add %x, %f : tensor<?x?xf32>
  %y = resid.rms_norm %s gamma(%gamma) {epsilon = 1.0e-5} : tensor<?x?xf32>, tensor<?xf32>
  return %y, %s : tensor<?x?xf32>, tensor<?x?xf32>
}
func.func @dropout_add_layer(%x: tensor<?x?xf32>, %f: tensor<?x?xf32>, %gamma: tensor<?xf32>, %beta: tensor<?xf32>,
                             %seed: i64, %step: i64) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x?xf32>
  %s = resid.add %x, %d : tensor<?x?xf32>
  %y = resid.layer_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>
  return %y, %s : tensor<?x?xf32>, tensor<?x?xf32>
}
func.func @add_layer_bf16(%x: tensor<?x?xbf16>, %f: tensor<?x?xbf16>, %gamma: tensor<?xbf16>, %beta: tensor<?xbf16>)
    -> (tensor<?x?xbf16>, tensor<?x?xbf16>) {
  %s = resid.add %x, %f : tensor<?x?xbf16>
  %y = resid.layer_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<?x?xbf16>, tensor<?xbf16>, tensor<?xbf16>
  return %y, %s : tensor<?x?xbf16>, tensor<?x?xbf16>
}
func.func @add_layer_mixed(%x: tensor<?x?xbf16>, %f: tensor<?x?xbf16>, %gamma: tensor<?xf32>, %beta: tensor<?xf32>)
    -> (tensor<?x?xbf16>, tensor<?x?xbf16>) {
  %s = resid.add %x, %f : tensor<?x?xbf16>
  %y = resid.layer_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<?x?xbf16>, tensor<?xf32>, tensor<?xf32>
  return %y, %s : tensor<?x?xbf16>, tensor<?x?xbf16>
}
func.func @dropout_add_layer_bf16(%x: tensor<?x?xbf16>, %f: tensor<?x?xbf16>, %gamma: tensor<?xbf16>, %beta: tensor<?xbf16>,
                                  %seed: i64, %step: i64) -> (tensor<?x?xbf16>, tensor<?x?xbf16>) {
  %d = resid.dropout %f seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x?xbf16>
  %s = resid.add %x, %d : tensor<?x?xbf16>
  %y = resid.layer_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<?x?xbf16>, tensor<?xbf16>, tensor<?xbf16>
  return %y, %s : tensor<?x?xbf16>, tensor<?x?xbf16>
}
