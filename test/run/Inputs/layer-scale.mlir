// Gates and scales that resid-fold-layer-scale folds into the projection before them.

func.func @block_with_dropout(%x: tensor<?x6xf64>, %w: tensor<6x8xf64>, %v: tensor<8x6xf64>, %b: tensor<6xf64>, %gate: tensor<6xf64>, %up: tensor<?x8xf64>, %seed: i64, %step: i64) -> tensor<?x6xf64> {
  %y = resid.block pre %x norm(rms epsilon = 1.0e-5) dropout(0.25, site 3, seed %seed, step %step) gate(%gate : tensor<6xf64>) {skip_scale = 1.5, branch_scale = 0.3} : tensor<?x6xf64> {
  ^bb0(%h: tensor<?x6xf64>):
    %c0 = arith.constant 0 : index
    %rows = tensor.dim %h, %c0 : tensor<?x6xf64>
    %zero = arith.constant 0.0 : f64
    %e = tensor.empty(%rows) : tensor<?x6xf64>
    %zeros = linalg.fill ins(%zero : f64) outs(%e : tensor<?x6xf64>) -> tensor<?x6xf64>
    %u = linalg.matmul ins(%h, %w : tensor<?x6xf64>, tensor<6x8xf64>) outs(%up : tensor<?x8xf64>) -> tensor<?x8xf64>
    %a = math.tanh %u : tensor<?x8xf64>
    %m = linalg.matmul ins(%a, %v : tensor<?x8xf64>, tensor<8x6xf64>) outs(%zeros : tensor<?x6xf64>) -> tensor<?x6xf64>
    %f = resid.add_bias %m, %b : tensor<?x6xf64>, tensor<6xf64>
    resid.yield %f : tensor<?x6xf64>
  }
  return %y : tensor<?x6xf64>
}

// Transposed, the bias as the start, and a second bias.
func.func @flat_transposed(%x: tensor<5x6xf64>, %u: tensor<5x8xf64>, %w: tensor<6x8xf64>, %b: tensor<6xf64>, %c: tensor<6xf64>, %gate: tensor<6xf64>, %seed: i64, %step: i64) -> tensor<5x6xf64> {
  %e = tensor.empty() : tensor<5x6xf64>
  %start = linalg.broadcast ins(%b : tensor<6xf64>) outs(%e : tensor<5x6xf64>) dimensions = [0]
  %m = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%u, %w : tensor<5x8xf64>, tensor<6x8xf64>) outs(%start : tensor<5x6xf64>) -> tensor<5x6xf64>
  %e2 = tensor.empty() : tensor<5x6xf64>
  %cs = linalg.broadcast ins(%c : tensor<6xf64>) outs(%e2 : tensor<5x6xf64>) dimensions = [0]
  %f = arith.addf %cs, %m : tensor<5x6xf64>
  %d = resid.dropout %f seed(%seed, %step) {p = 0.4, site = 1} : tensor<5x6xf64>
  %y = resid.add %x, %d gate(%gate) : tensor<5x6xf64>, tensor<6xf64>
  return %y : tensor<5x6xf64>
}

func.func @rezero(%x: tensor<5x6xf64>, %u: tensor<5x8xf64>, %w: tensor<8x6xf64>, %b: tensor<6xf64>, %gate: tensor<f64>) -> tensor<5x6xf64> {
  %zeros = arith.constant dense<0.0> : tensor<5x6xf64>
  %m = linalg.matmul ins(%u, %w : tensor<5x8xf64>, tensor<8x6xf64>) outs(%zeros : tensor<5x6xf64>) -> tensor<5x6xf64>
  %f = resid.add_bias %m, %b : tensor<5x6xf64>, tensor<6xf64>
  %y = resid.add %x, %f gate(%gate) : tensor<5x6xf64>, tensor<f64>
  return %y : tensor<5x6xf64>
}

// A gate of size 1 is one number too.
func.func @size_one_gates(%x: tensor<5x6xf64>, %u: tensor<5x8xf64>, %w: tensor<8x6xf64>, %v: tensor<8x6xf64>, %gate: tensor<1xf64>, %gate2: tensor<1x6xf64>) -> tensor<5x6xf64> {
  %zeros = arith.constant dense<0.0> : tensor<5x6xf64>
  %f = linalg.matmul ins(%u, %w : tensor<5x8xf64>, tensor<8x6xf64>) outs(%zeros : tensor<5x6xf64>) -> tensor<5x6xf64>
  %y = resid.add %x, %f gate(%gate) : tensor<5x6xf64>, tensor<1xf64>
  %g = linalg.matmul ins(%u, %v : tensor<5x8xf64>, tensor<8x6xf64>) outs(%zeros : tensor<5x6xf64>) -> tensor<5x6xf64>
  %z = resid.add %y, %g gate(%gate2) {branch_scale = -2.0} : tensor<5x6xf64>, tensor<1x6xf64>
  return %z : tensor<5x6xf64>
}

// branch_scale alone; heads are summed over with their features, and the sample comes back after the layer.
func.func @heads(%x: tensor<2x3x6xf64>, %u: tensor<6x2x4xf64>, %w: tensor<2x4x6xf64>) -> tensor<2x3x6xf64> {
  %zeros = arith.constant dense<0.0> : tensor<6x6xf64>
  %m = linalg.generic {indexing_maps = [affine_map<(m, n, h, k) -> (m, h, k)>, affine_map<(m, n, h, k) -> (h, k, n)>, affine_map<(m, n, h, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%u, %w : tensor<6x2x4xf64>, tensor<2x4x6xf64>) outs(%zeros : tensor<6x6xf64>) {
  ^bb0(%a: f64, %b: f64, %sum: f64):
    %p = arith.mulf %a, %b : f64
    %s = arith.addf %sum, %p : f64
    linalg.yield %s : f64
  } -> tensor<6x6xf64>
  %f = tensor.expand_shape %m [[0, 1], [2]] output_shape [2, 3, 6] : tensor<6x6xf64> into tensor<2x3x6xf64>
  %y = resid.add %x, %f {branch_scale = 0.7} : tensor<2x3x6xf64>
  return %y : tensor<2x3x6xf64>
}

// The weight is tied: the head reads it too and keeps it, the projection gets a copy of its own.
func.func @tied(%x: tensor<5x6xf64>, %w: tensor<6x6xf64>, %gate: tensor<6xf64>) -> tensor<5x6xf64> {
  %zeros = arith.constant dense<0.0> : tensor<5x6xf64>
  %f = linalg.matmul ins(%x, %w : tensor<5x6xf64>, tensor<6x6xf64>) outs(%zeros : tensor<5x6xf64>) -> tensor<5x6xf64>
  %y = resid.add %x, %f gate(%gate) : tensor<5x6xf64>, tensor<6xf64>
  %z = linalg.matmul ins(%y, %w : tensor<5x6xf64>, tensor<6x6xf64>) outs(%zeros : tensor<5x6xf64>) -> tensor<5x6xf64>
  return %z : tensor<5x6xf64>
}

func.func @constants(%x: tensor<5x2xf64>, %u: tensor<5x3xf64>) -> tensor<5x2xf64> {
  %zeros = arith.constant dense<0.0> : tensor<5x2xf64>
  %w = arith.constant dense<[[1.0, -2.0], [0.5, 4.0], [-3.0, 0.125]]> : tensor<3x2xf64>
  %b = arith.constant dense<[10.0, 20.0]> : tensor<2xf64>
  %gate = arith.constant dense<[0.5, -3.0]> : tensor<2xf64>
  %m = linalg.matmul ins(%u, %w : tensor<5x3xf64>, tensor<3x2xf64>) outs(%zeros : tensor<5x2xf64>) -> tensor<5x2xf64>
  %f = resid.add_bias %m, %b : tensor<5x2xf64>, tensor<2xf64>
  %y = resid.add %x, %f gate(%gate) {branch_scale = 0.25} : tensor<5x2xf64>, tensor<2xf64>
  return %y : tensor<5x2xf64>
}
