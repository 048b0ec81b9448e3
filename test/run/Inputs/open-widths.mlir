// Rows whose width is known when a function is called only.
!f32 = tensor<?x?xf32>
!bf16 = tensor<?x?xbf16>
!rows = tensor<?xf32>
func.func @layer(%x: !f32, %f: !f32, %gamma: !rows, %beta: !rows) -> (!f32, !f32) {
  %s = resid.add %x, %f : !f32
  %y = resid.layer_norm %s gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : !f32, !rows, !rows
  return %y, %s : !f32, !f32
}
func.func @dropout_rms(%x: !bf16, %f: !bf16, %gamma: !rows, %seed: i64, %step: i64) -> (!bf16, !bf16) {
  %d = resid.dropout %f seed(%seed, %step) {p = 0.25, site = 3} : !bf16
  %s = resid.add %x, %d : !bf16
  %y = resid.rms_norm %s gamma(%gamma) {epsilon = 1.0e-6} : !bf16, !rows
  return %y, %s : !bf16, !bf16
}
func.func @backward(%dy: !f32, %x: !f32, %mean: !rows, %correction: !rows, %rstd: !rows, %gamma: !rows) -> (!f32, !rows, !rows) {
  %dx, %dgamma, %dbeta = resid.layer_norm_grad %dy, %x statistics(%mean, %correction, %rstd) gamma(%gamma) : !f32, !f32, !rows, !rows
  return %dx, %dgamma, %dbeta : !f32, !rows, !rows
}
