// What layers do to a product: a bias, a maximum, a residual add, a cast, in the types that streams and weights have.
func.func @layer_f32(%x: tensor<?x?xf32>, %w: tensor<?x?xf32>, %b: tensor<?xf32>, %r: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
  %columns = tensor.dim %w, %c0 : tensor<?x?xf32>
  %empty = tensor.empty(%rows, %columns) : tensor<?x?xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %w : tensor<?x?xf32>, tensor<?x?xf32>) outs(%zeros : tensor<?x?xf32>) -> tensor<?x?xf32>
  %y = resid.add_bias %p, %b : tensor<?x?xf32>, tensor<?xf32>
  %a = arith.maximumf %y, %zeros : tensor<?x?xf32>
  %s = resid.add %r, %a {branch_scale = 0.7} : tensor<?x?xf32>
  return %s : tensor<?x?xf32>
}

// A narrow stream beside weights in f32: the product rounds to the stream's type before the bias is added.
func.func @layer_bf16(%x: tensor<?x?xbf16>, %w: tensor<?x?xf32>, %b: tensor<?xf32>, %r: tensor<?x?xbf16>) -> (tensor<?x?xbf16>, tensor<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : bf16
  %rows = tensor.dim %x, %c0 : tensor<?x?xbf16>
  %columns = tensor.dim %w, %c1 : tensor<?x?xf32>
  %empty = tensor.empty(%rows, %columns) : tensor<?x?xbf16>
  %zeros = linalg.fill ins(%zero : bf16) outs(%empty : tensor<?x?xbf16>) -> tensor<?x?xbf16>
  %p = linalg.matmul ins(%x, %w : tensor<?x?xbf16>, tensor<?x?xf32>) outs(%zeros : tensor<?x?xbf16>) -> tensor<?x?xbf16>
  %y = resid.add_bias %p, %b : tensor<?x?xbf16>, tensor<?xf32>
  %s = resid.add %r, %y : tensor<?x?xbf16>
  %wide = arith.extf %s : tensor<?x?xbf16> to tensor<?x?xf32>
  return %s, %wide : tensor<?x?xbf16>, tensor<?x?xf32>
}

// A product that is the initial value of another one, which has a factor in common with it and is read twice.
func.func @onto_another(%x: tensor<?x?xf16>, %w: tensor<?x?xf16>, %c: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %p = linalg.matmul ins(%x, %w : tensor<?x?xf16>, tensor<?x?xf16>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  %q = linalg.matmul ins(%x, %w : tensor<?x?xf16>, tensor<?x?xf16>) outs(%p : tensor<?x?xf32>) -> tensor<?x?xf32>
  %s = arith.subf %q, %p : tensor<?x?xf32>
  return %q, %s : tensor<?x?xf32>, tensor<?x?xf32>
}
