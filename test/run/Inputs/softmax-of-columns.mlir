// A softmax over another dimension than the last, whose maximum is a loop between temporaries (deep-layers.test).
func.func @columns(%x: tensor<?x6x48xf16>) -> tensor<?x6x48xf16> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x6x48xf16>
  %s = arith.addf %x, %x : tensor<?x6x48xf16>
  %w = arith.extf %s : tensor<?x6x48xf16> to tensor<?x6x48xf32>
  %e = tensor.empty(%n) : tensor<?x6x48xf32>
  %y = linalg.softmax dimension(1) ins(%w : tensor<?x6x48xf32>) outs(%e : tensor<?x6x48xf32>) -> tensor<?x6x48xf32>
  %z = arith.truncf %y : tensor<?x6x48xf32> to tensor<?x6x48xf16>
  return %z : tensor<?x6x48xf16>
}
