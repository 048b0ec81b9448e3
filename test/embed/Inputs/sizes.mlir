// Results whose sizes follow from arguments' sizes, and a dynamic width beside a static parameter.

func.func @join(%x: tensor<?x3x8xf32>, %y: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x4x8xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %y, %c0 : tensor<?x8xf32>
  %q = arith.divui %n, %c4 : index
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x3x8xf32> into tensor<?x8xf32>
  %rows = tensor.concat dim(0) %flat, %y : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %expanded = tensor.expand_shape %y [[0, 1], [2]] output_shape [%q, 4, 8] : tensor<?x8xf32> into tensor<?x4x8xf32>
  return %rows, %expanded : tensor<?x8xf32>, tensor<?x4x8xf32>
}

func.func @outer(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?xf32>
  %n = tensor.dim %b, %c0 : tensor<?xf32>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<?xf32>, tensor<?xf32>) outs(%e : tensor<?x?xf32>) {
  ^bb0(%u: f32, %v: f32, %out: f32):
    %w = arith.mulf %u, %v : f32
    linalg.yield %w : f32
  } -> tensor<?x?xf32>
  %flat = tensor.collapse_shape %p [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
  return %flat : tensor<?xf32>
}

func.func @flat_norm(%x: tensor<?x?x8xf32>) -> tensor<?x?x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %b = tensor.dim %x, %c0 : tensor<?x?x8xf32>
  %s = tensor.dim %x, %c1 : tensor<?x?x8xf32>
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x8xf32> into tensor<?x8xf32>
  %y = resid.rms_norm %flat {epsilon = 1.0e-5} : tensor<?x8xf32>
  %o = tensor.expand_shape %y [[0, 1], [2]] output_shape [%b, %s, 8] : tensor<?x8xf32> into tensor<?x?x8xf32>
  return %o : tensor<?x?x8xf32>
}

func.func @drop_bias(%x: tensor<?x?xf32>, %b: tensor<8xf32>, %seed: i64, %step: i64) -> tensor<?x?xf32> {
  %0 = resid.dropout %x seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x?xf32>
  %1 = resid.add_bias %0, %b : tensor<?x?xf32>, tensor<8xf32>
  return %1 : tensor<?x?xf32>
}
