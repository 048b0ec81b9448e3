// Functions of vector loops beside others, of which LLVM's passes replace some.
func.func @five(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %a = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<?x8xf32>
  %b = resid.rms_norm %a {epsilon = 1.0e-5} : tensor<?x8xf32>
  %c = resid.rms_norm %b {epsilon = 1.0e-5} : tensor<?x8xf32>
  %d = resid.rms_norm %c {epsilon = 1.0e-5} : tensor<?x8xf32>
  %e = resid.rms_norm %d {epsilon = 1.0e-5} : tensor<?x8xf32>
  return %e : tensor<?x8xf32>
}
func.func @sub_layer(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %n = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<8x8xf32>
  %m = linalg.matmul ins(%n, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  %y = resid.add %x, %m : tensor<8x8xf32>
  return %y : tensor<8x8xf32>
}
