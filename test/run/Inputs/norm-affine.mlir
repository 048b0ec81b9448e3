// Norms whose gamma and beta resid-fold-norm-affine folds, each in another form. No two sizes of a layer are equal where
// they need not be, so that an axis in another's place shows.
#rows = affine_map<(m, n, k) -> (m, k)>
#plain = affine_map<(m, n, k) -> (k, n)>
#transposed = affine_map<(m, n, k) -> (n, k)>
#output = affine_map<(m, n, k) -> (m, n)>

func.func @beta_without_bias(%x: tensor<?x8xf64>, %gamma: tensor<8xf64>, %beta: tensor<8xf64>, %w: tensor<8x6xf64>, %zeros: tensor<?x6xf64>) -> tensor<?x6xf64> {
  %n = resid.layer_norm %x gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<?x8xf64>, tensor<8xf64>, tensor<8xf64>
  %y = linalg.matmul ins(%n, %w : tensor<?x8xf64>, tensor<8x6xf64>) outs(%zeros : tensor<?x6xf64>) -> tensor<?x6xf64>
  return %y : tensor<?x6xf64>
}

func.func @gamma_alone(%x: tensor<?x8xf64>, %gamma: tensor<8xf64>, %w: tensor<8x6xf64>, %zeros: tensor<?x6xf64>) -> tensor<?x6xf64> {
  %n = resid.rms_norm %x gamma(%gamma) {epsilon = 1.0e-3} : tensor<?x8xf64>, tensor<8xf64>
  %y = linalg.matmul ins(%n, %w : tensor<?x8xf64>, tensor<8x6xf64>) outs(%zeros : tensor<?x6xf64>) -> tensor<?x6xf64>
  return %y : tensor<?x6xf64>
}

func.func @dynamic_sizes(%x: tensor<3x?xf64>, %gamma: tensor<?xf64>, %beta: tensor<?xf64>, %w: tensor<?x6xf64>, %zeros: tensor<3x6xf64>) -> tensor<3x6xf64> {
  %n = resid.layer_norm %x gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<3x?xf64>, tensor<?xf64>, tensor<?xf64>
  %y = linalg.matmul ins(%n, %w : tensor<3x?xf64>, tensor<?x6xf64>) outs(%zeros : tensor<3x6xf64>) -> tensor<3x6xf64>
  return %y : tensor<3x6xf64>
}

func.func @dyt_zero_centered_transposed(%x: tensor<?x8xf64>, %alpha: tensor<f64>, %gamma: tensor<8xf64>, %beta: tensor<8xf64>, %w: tensor<6x8xf64>, %b: tensor<6xf64>, %zeros: tensor<?x6xf64>) -> tensor<?x6xf64> {
  %n = resid.dyt %x alpha(%alpha) gamma(%gamma) beta(%beta) {zero_centered_gamma} : tensor<?x8xf64>, tensor<f64>, tensor<8xf64>, tensor<8xf64>
  %m = linalg.matmul indexing_maps = [#rows, #transposed, #output] ins(%n, %w : tensor<?x8xf64>, tensor<6x8xf64>) outs(%zeros : tensor<?x6xf64>) -> tensor<?x6xf64>
  %y = resid.add_bias %m, %b : tensor<?x6xf64>, tensor<6xf64>
  return %y : tensor<?x6xf64>
}

func.func @narrow_affine(%x: tensor<?x8xf64>, %gamma: tensor<8xf64>, %w: tensor<8x6xf64>, %zeros: tensor<?x6xf64>) -> tensor<?x6xf64> {
  %n = resid.rms_norm %x gamma(%gamma) {epsilon = 1.0e-5, narrow_affine} : tensor<?x8xf64>, tensor<8xf64>
  %y = linalg.matmul ins(%n, %w : tensor<?x8xf64>, tensor<8x6xf64>) outs(%zeros : tensor<?x6xf64>) -> tensor<?x6xf64>
  return %y : tensor<?x6xf64>
}

// The weight is the left operand, the output transposed: y = W·x̂ᵀ. There is no beta, which would need features last.
func.func @output_transposed(%x: tensor<5x8xf64>, %gamma: tensor<8xf64>, %w: tensor<6x8xf64>, %zeros: tensor<6x5xf64>) -> tensor<6x5xf64> {
  %n = resid.layer_norm %x gamma(%gamma) {epsilon = 1.0e-5} : tensor<5x8xf64>, tensor<8xf64>
  %y = linalg.matmul indexing_maps = [#rows, #transposed, #output] ins(%w, %n : tensor<6x8xf64>, tensor<5x8xf64>) outs(%zeros : tensor<6x5xf64>) -> tensor<6x5xf64>
  return %y : tensor<6x5xf64>
}

// The bias is what the contraction starts from.
func.func @bias_as_start(%x: tensor<5x8xf64>, %gamma: tensor<8xf64>, %beta: tensor<8xf64>, %w: tensor<8x6xf64>, %b: tensor<6xf64>) -> tensor<5x6xf64> {
  %n = resid.layer_norm %x gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<5x8xf64>, tensor<8xf64>, tensor<8xf64>
  %e = tensor.empty() : tensor<5x6xf64>
  %start = linalg.broadcast ins(%b : tensor<6xf64>) outs(%e : tensor<5x6xf64>) dimensions = [0]
  %y = linalg.matmul ins(%n, %w : tensor<5x8xf64>, tensor<8x6xf64>) outs(%start : tensor<5x6xf64>) -> tensor<5x6xf64>
  return %y : tensor<5x6xf64>
}

// Samples and positions as two axes; the bias is added by an elementwise op.
func.func @batched(%x: tensor<2x?x8xf64>, %gamma: tensor<8xf64>, %beta: tensor<8xf64>, %w: tensor<8x6xf64>, %b: tensor<6xf64>, %zeros: tensor<2x?x6xf64>) -> tensor<2x?x6xf64> {
  %n = resid.layer_norm %x gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<2x?x8xf64>, tensor<8xf64>, tensor<8xf64>
  %m = linalg.contract indexing_maps = [affine_map<(s, m, n, k) -> (s, m, k)>, affine_map<(s, m, n, k) -> (k, n)>, affine_map<(s, m, n, k) -> (s, m, n)>]
      ins(%n, %w : tensor<2x?x8xf64>, tensor<8x6xf64>) outs(%zeros : tensor<2x?x6xf64>) -> tensor<2x?x6xf64>
  %y = linalg.generic {indexing_maps = [affine_map<(s, m, n) -> (n)>, affine_map<(s, m, n) -> (s, m, n)>, affine_map<(s, m, n) -> (s, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%b, %m : tensor<6xf64>, tensor<2x?x6xf64>) outs(%zeros : tensor<2x?x6xf64>) {
  ^bb0(%bias: f64, %element: f64, %out: f64):
    %sum = arith.addf %bias, %element : f64
    linalg.yield %sum : f64
  } -> tensor<2x?x6xf64>
  return %y : tensor<2x?x6xf64>
}

// Rows are flattened before the layer, and their sample comes back before the bias.
func.func @reshaped(%x: tensor<2x3x8xf64>, %gamma: tensor<8xf64>, %beta: tensor<8xf64>, %w: tensor<8x6xf64>, %b: tensor<6xf64>, %zeros: tensor<6x6xf64>) -> tensor<2x3x6xf64> {
  %n = resid.layer_norm %x gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<2x3x8xf64>, tensor<8xf64>, tensor<8xf64>
  %flat = tensor.collapse_shape %n [[0, 1], [2]] : tensor<2x3x8xf64> into tensor<6x8xf64>
  %m = linalg.matmul ins(%flat, %w : tensor<6x8xf64>, tensor<8x6xf64>) outs(%zeros : tensor<6x6xf64>) -> tensor<6x6xf64>
  %y = tensor.expand_shape %m [[0, 1], [2]] output_shape [2, 3, 6] : tensor<6x6xf64> into tensor<2x3x6xf64>
  %z = resid.add_bias %y, %b : tensor<2x3x6xf64>, tensor<6xf64>
  return %z : tensor<2x3x6xf64>
}

// linalg.batch_matmul with one weight for all samples.
func.func @repeated_weight(%x: tensor<2x3x8xf64>, %gamma: tensor<8xf64>, %beta: tensor<8xf64>, %w: tensor<8x6xf64>, %zeros: tensor<2x3x6xf64>) -> tensor<2x3x6xf64> {
  %n = resid.layer_norm %x gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<2x3x8xf64>, tensor<8xf64>, tensor<8xf64>
  %e = tensor.empty() : tensor<2x8x6xf64>
  %ws = linalg.broadcast ins(%w : tensor<8x6xf64>) outs(%e : tensor<2x8x6xf64>) dimensions = [0]
  %y = linalg.batch_matmul ins(%n, %ws : tensor<2x3x8xf64>, tensor<2x8x6xf64>) outs(%zeros : tensor<2x3x6xf64>) -> tensor<2x3x6xf64>
  return %y : tensor<2x3x6xf64>
}

// A weight that is stored transposed and repeated per sample, steps that nothing else reads.
func.func @stored_otherwise(%x: tensor<2x3x8xf64>, %gamma: tensor<8xf64>, %beta: tensor<8xf64>, %w: tensor<6x8xf64>, %zeros: tensor<2x3x6xf64>) -> tensor<2x3x6xf64> {
  %n = resid.layer_norm %x gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<2x3x8xf64>, tensor<8xf64>, tensor<8xf64>
  %e = tensor.empty() : tensor<8x6xf64>
  %wt = linalg.transpose ins(%w : tensor<6x8xf64>) outs(%e : tensor<8x6xf64>) permutation = [1, 0]
  %e2 = tensor.empty() : tensor<8x2x6xf64>
  %ws = linalg.broadcast ins(%wt : tensor<8x6xf64>) outs(%e2 : tensor<8x2x6xf64>) dimensions = [1]
  %y = linalg.contract indexing_maps = [affine_map<(s, m, n, k) -> (s, m, k)>, affine_map<(s, m, n, k) -> (k, s, n)>, affine_map<(s, m, n, k) -> (s, m, n)>]
      ins(%n, %ws : tensor<2x3x8xf64>, tensor<8x2x6xf64>) outs(%zeros : tensor<2x3x6xf64>) -> tensor<2x3x6xf64>
  return %y : tensor<2x3x6xf64>
}

// Query, key and value of a pre-norm block; two of them share a weight, which the head reads too and keeps as it is.
func.func @query_key_value(%x: tensor<?x8xf64>, %gamma: tensor<8xf64>, %beta: tensor<8xf64>, %wq: tensor<8x8xf64>, %wk: tensor<8x8xf64>, %bk: tensor<8xf64>, %zeros: tensor<?x8xf64>) -> tensor<?x8xf64> {
  %y = resid.block pre %x norm(layer gamma %gamma : tensor<8xf64> beta %beta : tensor<8xf64> epsilon = 1.0e-5) : tensor<?x8xf64> {
  ^bb0(%h: tensor<?x8xf64>):
    %q = linalg.matmul ins(%h, %wq : tensor<?x8xf64>, tensor<8x8xf64>) outs(%zeros : tensor<?x8xf64>) -> tensor<?x8xf64>
    %m = linalg.matmul indexing_maps = [#rows, #transposed, #output] ins(%h, %wk : tensor<?x8xf64>, tensor<8x8xf64>) outs(%zeros : tensor<?x8xf64>) -> tensor<?x8xf64>
    %k = resid.add_bias %m, %bk : tensor<?x8xf64>, tensor<8xf64>
    %v = linalg.matmul ins(%h, %wq : tensor<?x8xf64>, tensor<8x8xf64>) outs(%q : tensor<?x8xf64>) -> tensor<?x8xf64>
    %kv = arith.mulf %k, %v : tensor<?x8xf64>
    resid.yield %kv : tensor<?x8xf64>
  }
  %head = linalg.matmul ins(%y, %wq : tensor<?x8xf64>, tensor<8x8xf64>) outs(%zeros : tensor<?x8xf64>) -> tensor<?x8xf64>
  return %head : tensor<?x8xf64>
}

// The first norm of peri folds, the second does not; a post norm before a head folds. Both share their parameters.
func.func @peri_then_post(%x: tensor<?x8xf64>, %gamma: tensor<8xf64>, %beta: tensor<8xf64>, %gamma2: tensor<8xf64>, %w: tensor<8x8xf64>, %head: tensor<8x6xf64>, %zeros: tensor<?x8xf64>, %zeros2: tensor<?x6xf64>) -> tensor<?x6xf64> {
  %y = resid.block peri %x norm(layer gamma %gamma : tensor<8xf64> beta %beta : tensor<8xf64> epsilon = 1.0e-5) norm(rms gamma %gamma2 : tensor<8xf64> epsilon = 1.0e-4) {narrow_affine} : tensor<?x8xf64> {
  ^bb0(%h: tensor<?x8xf64>):
    %f = linalg.matmul ins(%h, %w : tensor<?x8xf64>, tensor<8x8xf64>) outs(%zeros : tensor<?x8xf64>) -> tensor<?x8xf64>
    resid.yield %f : tensor<?x8xf64>
  }
  %z = resid.block post %y norm(layer gamma %gamma : tensor<8xf64> beta %beta : tensor<8xf64> epsilon = 1.0e-3) : tensor<?x8xf64> {
  ^bb0(%h: tensor<?x8xf64>):
    %f = math.tanh %h : tensor<?x8xf64>
    resid.yield %f : tensor<?x8xf64>
  }
  %r = linalg.matmul ins(%z, %head : tensor<?x8xf64>, tensor<8x6xf64>) outs(%zeros2 : tensor<?x6xf64>) -> tensor<?x6xf64>
  return %r : tensor<?x6xf64>
}

// All weights are constants: nothing is left to prepare.
func.func @constants(%x: tensor<?x3xf64>, %zeros: tensor<?x2xf64>) -> tensor<?x2xf64> {
  %gamma = arith.constant dense<[0.5, -1.25, 3.0]> : tensor<3xf64>
  %beta = arith.constant dense<[7.0, 0.25, -2.0]> : tensor<3xf64>
  %w = arith.constant dense<[[1.0, -2.0], [0.5, 4.0], [-3.0, 0.125]]> : tensor<3x2xf64>
  %b = arith.constant dense<[10.0, 20.0]> : tensor<2xf64>
  %n = resid.layer_norm %x gamma(%gamma) beta(%beta) {epsilon = 1.0e-5, zero_centered_gamma} : tensor<?x3xf64>, tensor<3xf64>, tensor<3xf64>
  %m = linalg.matmul ins(%n, %w : tensor<?x3xf64>, tensor<3x2xf64>) outs(%zeros : tensor<?x2xf64>) -> tensor<?x2xf64>
  %y = resid.add_bias %m, %b : tensor<?x2xf64>, tensor<2xf64>
  return %y : tensor<?x2xf64>
}

// A constant weight and parameters that are arguments: the new weight is one more argument.
func.func @constant_weight(%x: tensor<?x3xf64>, %gamma: tensor<3xf64>, %beta: tensor<3xf64>, %zeros: tensor<?x2xf64>) -> tensor<?x2xf64> {
  %w = arith.constant dense<[[1.0, -2.0], [0.5, 4.0], [-3.0, 0.125]]> : tensor<3x2xf64>
  %n = resid.layer_norm %x gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<?x3xf64>, tensor<3xf64>, tensor<3xf64>
  %y = linalg.matmul ins(%n, %w : tensor<?x3xf64>, tensor<3x2xf64>) outs(%zeros : tensor<?x2xf64>) -> tensor<?x2xf64>
  return %y : tensor<?x2xf64>
}

// Layers as ops, with the weight in either order, and with and without a bias.
func.func @linear_ops(%x: tensor<?x8xf64>, %gamma: tensor<8xf64>, %beta: tensor<8xf64>, %v: tensor<6x8xf64>, %w: tensor<8x6xf64>, %b: tensor<6xf64>)
    -> (tensor<?x6xf64>, tensor<?x6xf64>) {
  %n = resid.layer_norm %x gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : tensor<?x8xf64>, tensor<8xf64>, tensor<8xf64>
  %y = resid.linear %n, %v : tensor<?x8xf64>, tensor<6x8xf64>
  %z = resid.linear %n, %w bias(%b) {transposed} : tensor<?x8xf64>, tensor<8x6xf64>, tensor<6xf64>
  return %y, %z : tensor<?x6xf64>, tensor<?x6xf64>
}
