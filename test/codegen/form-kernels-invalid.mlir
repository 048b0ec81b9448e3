// Ops of resid have other forms before row kernels are made of them.
// RUN: resid-opt %s --resid-form-kernels --verify-diagnostics

func.func @not_lowered(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{'resid.add' op expected to be part of a row kernel but was left over}}
  %s = resid.add %x, %x : tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}
