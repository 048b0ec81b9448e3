// Linear layers whose weights are stored in 8 or 4 bits: TX, TW, TS are types; IN, OUT, G, GROUPS are numbers.

func.func @scaled(%x: tensor<?xINxTX>, %w: tensor<OUTxINxTW>, %s: tensor<OUTxGROUPSxTS>) -> tensor<?xOUTxf32> {
  %y = resid.linear %x, %w weight_scale(%s) {group = G}
      : tensor<?xINxTX>, tensor<OUTxINxTW>, tensor<OUTxGROUPSxTS> -> tensor<?xOUTxf32>
  return %y : tensor<?xOUTxf32>
}

func.func @zeros(%x: tensor<?xINxTX>, %w: tensor<OUTxINxTW>, %s: tensor<OUTxGROUPSxTS>, %z: tensor<OUTxGROUPSxi8>) -> tensor<?xOUTxf32> {
  %y = resid.linear %x, %w weight_scale(%s) weight_zero(%z) {group = G}
      : tensor<?xINxTX>, tensor<OUTxINxTW>, tensor<OUTxGROUPSxTS>, tensor<OUTxGROUPSxi8> -> tensor<?xOUTxf32>
  return %y : tensor<?xOUTxf32>
}

func.func @layer(%x: tensor<?xINxTX>, %w: tensor<OUTxINxTW>, %s: tensor<OUTxGROUPSxTS>, %z: tensor<OUTxGROUPSxi8>, %b: tensor<OUTxf32>)
    -> tensor<?xOUTxTX> {
  %y = resid.linear %x, %w weight_scale(%s) weight_zero(%z) bias(%b) {group = G}
      : tensor<?xINxTX>, tensor<OUTxINxTW>, tensor<OUTxGROUPSxTS>, tensor<OUTxGROUPSxi8>, tensor<OUTxf32>
  %a = resid.activation silu %y : tensor<?xOUTxTX>
  return %a : tensor<?xOUTxTX>
}

func.func @offsets(%x: tensor<?xINxTX>, %w: tensor<?xINxTW>, %s: tensor<?xGROUPSxTS>, %o: tensor<?xGROUPSxf32>) -> tensor<?x?xTX> {
  %y = resid.linear %x, %w weight_scale(%s) weight_offset(%o) {group = G}
      : tensor<?xINxTX>, tensor<?xINxTW>, tensor<?xGROUPSxTS>, tensor<?xGROUPSxf32>
  return %y : tensor<?x?xTX>
}

// The weight as floats, from which the layer has the same bits.
func.func @written_out(%x: tensor<?xINxTX>, %w: tensor<OUTxINxTW>, %s: tensor<OUTxGROUPSxf32>) -> tensor<?xOUTxf32> {
  %e = tensor.empty() : tensor<OUTxINxf32>
  %f = linalg.generic {indexing_maps = [affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (n, k floordiv G)>, affine_map<(n, k) -> (n, k)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%w, %s : tensor<OUTxINxTW>, tensor<OUTxGROUPSxf32>) outs(%e : tensor<OUTxINxf32>) {
  ^bb0(%q: TW, %t: f32, %o: f32):
    %a = arith.sitofp %q : TW to f32
    %p = arith.mulf %a, %t : f32
    linalg.yield %p : f32
  } -> tensor<OUTxINxf32>
  %y = resid.linear %x, %f : tensor<?xINxTX>, tensor<OUTxINxf32> -> tensor<?xOUTxf32>
  return %y : tensor<?xOUTxf32>
}
