// Several norms in one kernel: each keeps what it needs, and no result is overwritten by what another one keeps.
// REQUIRES: resid-run
// RUN: resid-run %s --entry=widened_sum_is_a_result --arg=bf16[3x64]=random:1 --arg=bf16[3x64]=random:2 --arg=f32[64]=random:3 --arg=1 --arg=2 --check | FileCheck %s --check-prefix=TWO
// RUN: resid-run %s --entry=three_sums_are_results --arg=bf16[5x70]=random:1 --arg=bf16[5x70]=random:2 --check | FileCheck %s --check-prefix=FOUR
// RUN: resid-run %s --entry=norms_of_two_widths --arg=f32[3x70]=random:1 --check | FileCheck %s --check-prefix=ONE
// TWO-COUNT-2: out{{[01]}}: ok
// FOUR-COUNT-4: out{{[0-3]}}: ok
// ONE: out0: ok

func.func @widened_sum_is_a_result(%x: tensor<?x64xbf16>, %f: tensor<?x64xbf16>, %g: tensor<64xf32>, %seed: i64,
                                   %step: i64) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %s = resid.add %x, %f : tensor<?x64xbf16> -> tensor<?x64xf32>
  %n = resid.rms_norm %s gamma(%g) {epsilon = 1.0e-5} : tensor<?x64xf32>, tensor<64xf32>
  %d = resid.dropout %n seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x64xf32>
  %t = resid.add %s, %d : tensor<?x64xf32>
  %m = resid.rms_norm %t gamma(%g) {epsilon = 1.0e-5} : tensor<?x64xf32>, tensor<64xf32>
  return %s, %m : tensor<?x64xf32>, tensor<?x64xf32>
}

func.func @three_sums_are_results(%x: tensor<?x70xbf16>, %f: tensor<?x70xbf16>)
    -> (tensor<?x70xf32>, tensor<?x70xf32>, tensor<?x70xf32>, tensor<?x70xf32>) {
  %s = resid.add %x, %f : tensor<?x70xbf16> -> tensor<?x70xf32>
  %n = resid.layer_norm %s {epsilon = 1.0e-5} : tensor<?x70xf32>
  %t = resid.add %s, %n : tensor<?x70xf32>
  %m = resid.layer_norm %t {epsilon = 1.0e-5} : tensor<?x70xf32>
  %u = resid.add %t, %m : tensor<?x70xf32>
  %o = resid.rms_norm %u {epsilon = 1.0e-5} : tensor<?x70xf32>
  return %s, %o, %t, %u : tensor<?x70xf32>, tensor<?x70xf32>, tensor<?x70xf32>, tensor<?x70xf32>
}

// The first norm counts its columns in f32, the second in f64.
func.func @norms_of_two_widths(%x: tensor<?x70xf32>) -> tensor<?x70xf64> {
  %y = resid.layer_norm %x {epsilon = 1.0e-5} : tensor<?x70xf32>
  %z = arith.extf %y : tensor<?x70xf32> to tensor<?x70xf64>
  %w = resid.layer_norm %z {epsilon = 1.0e-5} : tensor<?x70xf64>
  return %w : tensor<?x70xf64>
}
