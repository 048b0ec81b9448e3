// arith.maximumf and minimumf order -0 before +0 and hand a NaN on, in every type, on vectors and scalars.
// REQUIRES: resid-run, x86_64
// RUN: resid-run %s --entry=f32 --arg=f32[2x96]=0.0 --arg=f32[2x96]=-0.0 --check | FileCheck %s
// RUN: resid-run %s --entry=f32 --arg=f32[2x96]=-0.0 --arg=f32[2x96]=0.0 --check | FileCheck %s
// RUN: resid-run %s --entry=f32 --arg=f32[2x96]=-0.0 --arg=f32[2x96]=0.0 --mcpu=x86-64-v2 --check | FileCheck %s
// RUN: resid-run %s --entry=f32 --arg=f32[2x96]=nan --arg=f32[2x96]=random:1 --check | FileCheck %s --check-prefix=NANS
// RUN: resid-run %s --entry=bf16 --arg=bf16[2x96]=0.0 --arg=bf16[2x96]=-0.0 --check | FileCheck %s
// RUN: resid-run %s --entry=f64 --arg=f64[2x96]=-0.0 --arg=f64[2x96]=0.0 --check | FileCheck %s
// RUN: resid-run %s --entry=scalar --arg=-0.0 --arg=0.0 --check | FileCheck %s

// CHECK: out0: ok
// CHECK: out1: ok
// CHECK: out0: {{.*}}first {{-?}}0
// NANS: out0: ok
// NANS: out1: ok
// NANS: out0: {{.*}}first nan nan
// NANS: out1: {{.*}}first nan nan

func.func @f32(%a: tensor<?x96xf32>, %b: tensor<?x96xf32>) -> (tensor<?x96xf32>, tensor<?x96xf32>) {
  %greater = arith.maximumf %a, %b : tensor<?x96xf32>
  %less = arith.minimumf %a, %b : tensor<?x96xf32>
  return %greater, %less : tensor<?x96xf32>, tensor<?x96xf32>
}

func.func @bf16(%a: tensor<?x96xbf16>, %b: tensor<?x96xbf16>) -> (tensor<?x96xbf16>, tensor<?x96xbf16>) {
  %greater = arith.maximumf %a, %b : tensor<?x96xbf16>
  %less = arith.minimumf %a, %b : tensor<?x96xbf16>
  return %greater, %less : tensor<?x96xbf16>, tensor<?x96xbf16>
}

func.func @f64(%a: tensor<?x96xf64>, %b: tensor<?x96xf64>) -> (tensor<?x96xf64>, tensor<?x96xf64>) {
  %greater = arith.maximumf %a, %b : tensor<?x96xf64>
  %less = arith.minimumf %a, %b : tensor<?x96xf64>
  return %greater, %less : tensor<?x96xf64>, tensor<?x96xf64>
}

func.func @scalar(%a: f32, %b: f32) -> (tensor<f32>, tensor<f32>) {
  %greater = arith.maximumf %a, %b : f32
  %less = arith.minimumf %a, %b : f32
  %0 = tensor.from_elements %greater : tensor<f32>
  %1 = tensor.from_elements %less : tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}
