// Chains of row-wise ops around norms, over the same rows: each is to be one kernel.
func.func @bias_activation_cast_scale(%x: tensor<?x768xf32>, %f: tensor<?x768xbf16>, %b: tensor<768xbf16>,
                                      %g: tensor<768xf32>, %be: tensor<768xf32>) -> (tensor<?x768xbf16>, tensor<?x768xf32>) {
  %half = arith.constant dense<5.0e-1> : tensor<768xf32>
  %0 = resid.add_bias %f, %b : tensor<?x768xbf16>, tensor<768xbf16>
  %1 = arith.extf %0 : tensor<?x768xbf16> to tensor<?x768xf32>
  %2 = math.tanh %1 : tensor<?x768xf32>
  %s = resid.add %x, %2 gate(%half) : tensor<?x768xf32>, tensor<768xf32>
  %y = resid.layer_norm %s gamma(%g) beta(%be) {epsilon = 1.0e-5} : tensor<?x768xf32>, tensor<768xf32>, tensor<768xf32>
  %z = arith.truncf %y : tensor<?x768xf32> to tensor<?x768xbf16>
  return %z, %s : tensor<?x768xbf16>, tensor<?x768xf32>
}
func.func @dropout_gate_residual_f16(%x: tensor<?x?xf16>, %f: tensor<?x?xf16>, %b: tensor<?xf16>, %w: tensor<?xf32>, %g: tensor<?xf32>,
                                     %seed: i64, %step: i64) -> (tensor<?x?xf16>, tensor<?x?xf16>) {
  %0 = resid.add_bias %f, %b : tensor<?x?xf16>, tensor<?xf16>
  %1 = resid.dropout %0 seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x?xf16>
  %s = resid.add %x, %1 gate(%w) {branch_scale = 0.5, skip_scale = 1.5} : tensor<?x?xf16>, tensor<?xf32>
  %n = resid.rms_norm %s gamma(%g) {epsilon = 1.0e-5} : tensor<?x?xf16>, tensor<?xf32>
  %y = math.tanh %n : tensor<?x?xf16>
  return %y, %s : tensor<?x?xf16>, tensor<?x?xf16>
}
func.func @gate_per_row_and_statistics(%x: tensor<4x?x64xbf16>, %f: tensor<4x?x64xbf16>, %r: tensor<4x?x1xf32>, %d: tensor<4x1x1xf32>)
    -> (tensor<4x?x64xbf16>, tensor<4x?x64xbf16>, tensor<4x?xf32>) {
  %1 = resid.add %x, %f gate(%r) : tensor<4x?x64xbf16>, tensor<4x?x1xf32>
  %s = resid.add %1, %f gate(%d) : tensor<4x?x64xbf16>, tensor<4x1x1xf32>
  %y, %q = resid.rms_norm %s {epsilon = 1.0e-6} : tensor<4x?x64xbf16> -> tensor<4x?x64xbf16>, tensor<4x?xf32>
  return %y, %s, %q : tensor<4x?x64xbf16>, tensor<4x?x64xbf16>, tensor<4x?xf32>
}
func.func @without_norm(%x: tensor<?x256xf32>, %f: tensor<?x256xf16>, %b: tensor<256xf16>, %seed: i64, %step: i64) -> tensor<?x256xbf16> {
  %0 = resid.add_bias %f, %b : tensor<?x256xf16>, tensor<256xf16>
  %1 = resid.dropout %0 seed(%seed, %step) {p = 0.5, site = 1} : tensor<?x256xf16>
  %2 = arith.extf %1 : tensor<?x256xf16> to tensor<?x256xf32>
  %3 = resid.add %x, %2 : tensor<?x256xf32>
  %4 = arith.mulf %3, %3 : tensor<?x256xf32>
  %5 = arith.truncf %4 : tensor<?x256xf32> to tensor<?x256xbf16>
  return %5 : tensor<?x256xbf16>
}
// No result has the type of the sum: no row can hold it, so the inputs are gone over in every phase, from the cache.
func.func @sum_without_a_row(%x: tensor<?x512xbf16>, %f: tensor<?x512xbf16>) -> tensor<?x512xbf16> {
  %s = resid.add %x, %f : tensor<?x512xbf16> -> tensor<?x512xf32>
  %y = resid.layer_norm %s {epsilon = 1.0e-5} : tensor<?x512xf32> -> tensor<?x512xbf16>
  return %y : tensor<?x512xbf16>
}
func.func @bias_add_group_norm(%x: tensor<?x768xbf16>, %f: tensor<?x768xbf16>, %b: tensor<768xf32>, %w: tensor<768xf32>,
                               %g: tensor<768xf32>, %be: tensor<768xf32>) -> (tensor<?x768xbf16>, tensor<?x768xbf16>, tensor<?x8xf32>) {
  %0 = resid.add_bias %f, %b : tensor<?x768xbf16>, tensor<768xf32>
  %s = resid.add %x, %0 gate(%w) {skip_scale = 1.5} : tensor<?x768xbf16>, tensor<768xf32>
  %n, %m, %c, %q = resid.group_norm %s gamma(%g) beta(%be) {epsilon = 1.0e-5, groups = 8}
      : tensor<?x768xbf16>, tensor<768xf32>, tensor<768xf32> -> tensor<?x768xbf16>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
  %y = math.tanh %n : tensor<?x768xbf16>
  return %y, %s, %q : tensor<?x768xbf16>, tensor<?x768xbf16>, tensor<?x8xf32>
}
