func.func @f() -> tensor<4x8xf32> {
  %x = arith.constant dense<1.5> : tensor<4x8xf32>
  %y = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
