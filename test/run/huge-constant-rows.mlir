// A constant row of huge values, whose epsilon·s² underflows, gives beta: fused or not, in each type. Its
// statistics are those of the definition.
// REQUIRES: resid-run
// RUN: resid-run %s --entry=f32 --check --arg=f32[2x2]=2e38,2e38,-3e38,-3e38 --arg=f32[2x2]=0.0 --arg=f32[2]=2.0 > %t
// RUN: resid-run %s --entry=bf16 --check --arg=bf16[3x130]=-3e38 --arg=bf16[3x130]=0.0 --arg=bf16[130]=2.0 >> %t
// RUN: FileCheck %s --input-file=%t
// RUN: resid-run %s --entry=f64 --check --arg=f64[3x9]=1.7e308 --arg=f64[3x9]=0.0 --arg=f64[9]=2.0 | FileCheck %s --check-prefix=ONE
// RUN: resid-run %s --entry=f32 --check --arg=f32[1x96]=1e30 --arg=f32[1x96]=0.0 --arg=f32[96]=2.0 | FileCheck %s --check-prefix=ROUNDED
// ROUNDED-NOT: failed
// ROUNDED:     out0: 1x{{.*}}min 2, max 2
// CHECK-NOT:      failed
// CHECK-COUNT-2: out0: {{[23]}}x{{.*}}min 2, max 2
// ONE-NOT: failed
// ONE:     out0: 3x{{.*}}min 2, max 2
// ONE:     out4: 3x{{.*}}min 1, max 1

func.func @f32(%x: tensor<?x?xf32>, %f: tensor<?x?xf32>, %g: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) {
  %s = resid.add %x, %f : tensor<?x?xf32>
  %y, %mean, %correction, %rstd = resid.layer_norm %s gamma(%g) beta(%g) {epsilon = 1.0e-5} : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32> -> tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
  %n, %m = resid.add_norm layer %x, %f gamma(%g) beta(%g) {epsilon = 1.0e-5} : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>
  %r = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<?x?xf32>
  return %y, %mean, %correction, %rstd, %r, %n : tensor<?x?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
}

func.func @bf16(%x: tensor<?x?xbf16>, %f: tensor<?x?xbf16>, %g: tensor<?xbf16>) -> (tensor<?x?xbf16>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?x?xbf16>, tensor<?x?xbf16>) {
  %s = resid.add %x, %f : tensor<?x?xbf16>
  %y, %mean, %correction, %rstd = resid.layer_norm %s gamma(%g) beta(%g) {epsilon = 1.0e-5} : tensor<?x?xbf16>, tensor<?xbf16>, tensor<?xbf16> -> tensor<?x?xbf16>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
  %n, %m = resid.add_norm layer %x, %f gamma(%g) beta(%g) {epsilon = 1.0e-5} : tensor<?x?xbf16>, tensor<?xbf16>, tensor<?xbf16>
  %r = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<?x?xbf16>
  return %y, %mean, %correction, %rstd, %r, %n : tensor<?x?xbf16>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>, tensor<?x?xbf16>, tensor<?x?xbf16>
}

func.func @f64(%x: tensor<?x?xf64>, %f: tensor<?x?xf64>, %g: tensor<?xf64>) -> (tensor<?x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?x?xf64>, tensor<?x?xf64>) {
  %s = resid.add %x, %f : tensor<?x?xf64>
  %y, %mean, %correction, %rstd = resid.layer_norm %s gamma(%g) beta(%g) {epsilon = 1.0e-5} : tensor<?x?xf64>, tensor<?xf64>, tensor<?xf64> -> tensor<?x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>
  %n, %m = resid.add_norm layer %x, %f gamma(%g) beta(%g) {epsilon = 1.0e-5} : tensor<?x?xf64>, tensor<?xf64>, tensor<?xf64>
  %r = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<?x?xf64>
  return %y, %mean, %correction, %rstd, %r, %n : tensor<?x?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?xf64>, tensor<?x?xf64>, tensor<?x?xf64>
}
