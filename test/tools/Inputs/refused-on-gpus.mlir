func.func @f(%x: tensor<4x8xf32>, %n: tensor<index>, %c: tensor<2xi1>) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %end = tensor.extract %n[] : tensor<index>
  %y = scf.for %i = %c0 to %end step %c1 iter_args(%a = %x) -> tensor<4x8xf32> {
    %b = resid.add %a, %x : tensor<4x8xf32>
    scf.yield %b : tensor<4x8xf32>
  }
  %flag = tensor.extract %c[%c1] : tensor<2xi1>
  %z = scf.if %flag -> tensor<4x8xf32> {
    %b = resid.add %y, %x : tensor<4x8xf32>
    scf.yield %b : tensor<4x8xf32>
  } else {
    scf.yield %y : tensor<4x8xf32>
  }
  cf.assert %flag, "the flag is set"
  return %z : tensor<4x8xf32>
}
