// Functions of which gradients are refused by flags, not by what is in them.
func.func @f(%x: tensor<4x8xf32>, %f: tensor<4x8xf32>, %n: i64) -> tensor<4x8xf32> {
  %y = resid.add %x, %f : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

func.func @taken(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  return %x : tensor<4x8xf32>
}

func.func @taken_forward() {
  return
}
