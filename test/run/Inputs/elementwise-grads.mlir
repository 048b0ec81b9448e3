// What stands around products in a network, with its backward. `@chain` is one kernel, but for the sum along the rows.
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @chain(%x: tensor<?x768xf32>, %b: tensor<768xf32>, %r: tensor<?x1xf32>, %up: tensor<?x768xf32>)
    -> tensor<?x768xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x768xf32>
  %e = tensor.empty(%n) : tensor<?x768xf32>
  %y = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, 0)>, #id],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %b, %r : tensor<?x768xf32>, tensor<768xf32>, tensor<?x1xf32>) outs(%e : tensor<?x768xf32>) {
    ^bb0(%a: f32, %c: f32, %d: f32, %o: f32):
      %s = arith.addf %a, %c : f32
      %t = math.tanh %s : f32
      %u = arith.mulf %t, %d : f32
      linalg.yield %u : f32
  } -> tensor<?x768xf32>
  %g = resid.activation swiglu %y, %up : tensor<?x768xf32>
  %z = arith.mulf %g, %x : tensor<?x768xf32>
  return %z : tensor<?x768xf32>
}

func.func @narrow(%x: tensor<?x96xbf16>, %b: tensor<32xbf16>) -> (tensor<?x32xbf16>, tensor<?xbf16>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x96xbf16>
  %gate = tensor.extract_slice %x[0, 0] [%n, 32] [1, 1] : tensor<?x96xbf16> to tensor<?x32xbf16>
  %up = tensor.extract_slice %x[0, 32] [%n, 32] [1, 1] : tensor<?x96xbf16> to tensor<?x32xbf16>
  %rest = tensor.extract_slice %x[0, 64] [%n, 32] [1, 1] : tensor<?x96xbf16> to tensor<?x32xbf16>
  %a = resid.activation geglu_tanh %gate, %up : tensor<?x32xbf16>
  %s = resid.add_bias %a, %b : tensor<?x32xbf16>, tensor<32xbf16>
  %y = arith.mulf %s, %rest : tensor<?x32xbf16>
  %low = arith.constant 0xFF80 : bf16
  %e = tensor.empty(%n) : tensor<?xbf16>
  %start = linalg.fill ins(%low : bf16) outs(%e : tensor<?xbf16>) -> tensor<?xbf16>
  %most = linalg.reduce {arith.maximumf} ins(%rest : tensor<?x32xbf16>) outs(%start : tensor<?xbf16>) dimensions = [1]
  return %y, %most : tensor<?x32xbf16>, tensor<?xbf16>
}

func.func @attended(%x: tensor<2x5x?xf32>, %table: tensor<5x2xf32>) -> tensor<5x2x?xf32> {
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c2 : tensor<2x5x?xf32>
  %e = tensor.empty(%n) : tensor<2x5x?xf32>
  %s = linalg.softmax dimension(2) ins(%x : tensor<2x5x?xf32>) outs(%e : tensor<2x5x?xf32>) -> tensor<2x5x?xf32>
  %t = tensor.empty(%n) : tensor<5x2x?xf32>
  %turned = linalg.transpose ins(%s : tensor<2x5x?xf32>) outs(%t : tensor<5x2x?xf32>) permutation = [1, 0, 2]
  %wide = linalg.broadcast ins(%table : tensor<5x2xf32>) outs(%t : tensor<5x2x?xf32>) dimensions = [2]
  %y = arith.divf %turned, %wide : tensor<5x2x?xf32>
  return %y : tensor<5x2x?xf32>
}

// A number out of a tensor for all, padding, and a sum of everything.
func.func @odds(%x: tensor<?x8xf32>, %scale: tensor<1xf32>) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %0 = tensor.extract %scale[%c0] : tensor<1xf32>
  %1 = tensor.pad %x low[1, 0] high[0, 2] {
    ^bb0(%i: index, %j: index):
      tensor.yield %zero : f32
  } : tensor<?x8xf32> to tensor<?x10xf32>
  %e = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %y = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> ()>],
                       iterator_types = ["reduction", "reduction"]}
      ins(%1, %0 : tensor<?x10xf32>, f32) outs(%start : tensor<f32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %p = arith.mulf %a, %b : f32
      %q = math.cos %p : f32
      %s = arith.addf %o, %q : f32
      linalg.yield %s : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}
