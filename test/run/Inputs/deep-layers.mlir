// 24 layers h + relu(h·w) on a narrow stream, each with a weight of its own.
func.func @layers(%x: tensor<?x48xbf16>, %weights: tensor<24x48x48xf32>) -> tensor<?x48xbf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c24 = arith.constant 24 : index
  %zero = arith.constant 0.0 : bf16
  %rows = tensor.dim %x, %c0 : tensor<?x48xbf16>
  %empty = tensor.empty(%rows) : tensor<?x48xbf16>
  %zeros = linalg.fill ins(%zero : bf16) outs(%empty : tensor<?x48xbf16>) -> tensor<?x48xbf16>
  %y = scf.for %i = %c0 to %c24 step %c1 iter_args(%h = %x) -> tensor<?x48xbf16> {
    %w = tensor.extract_slice %weights[%i, 0, 0] [1, 48, 48] [1, 1, 1] : tensor<24x48x48xf32> to tensor<48x48xf32>
    %f = linalg.matmul ins(%h, %w : tensor<?x48xbf16>, tensor<48x48xf32>) outs(%zeros : tensor<?x48xbf16>) -> tensor<?x48xbf16>
    %r = arith.maximumf %f, %zeros : tensor<?x48xbf16>
    %next = resid.add %h, %r : tensor<?x48xbf16>
    scf.yield %next : tensor<?x48xbf16>
  }
  return %y : tensor<?x48xbf16>
}
