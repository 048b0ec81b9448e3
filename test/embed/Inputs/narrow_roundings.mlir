// f32 rounded to bf16 beside rows that are bf16 already, so that even and odd columns are apart.
func.func @narrow(%x: tensor<?x?xf32>, %f: tensor<?x?xbf16>) -> (tensor<?x?xbf16>, tensor<?x?xbf16>) {
  %n = arith.truncf %x : tensor<?x?xf32> to tensor<?x?xbf16>
  %s = resid.add %f, %f : tensor<?x?xbf16>
  return %n, %s : tensor<?x?xbf16>, tensor<?x?xbf16>
}
// f32 alone, whose columns stay in order.
func.func @narrow_alone(%x: tensor<?x?xf32>) -> tensor<?x?xbf16> {
  %n = arith.truncf %x : tensor<?x?xf32> to tensor<?x?xbf16>
  return %n : tensor<?x?xbf16>
}
