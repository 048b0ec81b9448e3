// Pre-norm stacks whose stream resid-center-stream centres, each with other writers. All sizes of a layer differ, so that an
// axis in another's place shows.
#rows = affine_map<(m, n, k) -> (m, k)>
#transposed = affine_map<(m, n, k) -> (n, k)>
#output = affine_map<(m, n, k) -> (m, n)>

// Attention and MLP: a weight and a transposed one, a bias, scales, a gate of one number and one per row, a final norm with β.
func.func @two_sub_layers(%x: tensor<5x8xf64>, %g1: tensor<8xf64>, %b1: tensor<8xf64>, %g2: tensor<8xf64>, %wv: tensor<8x6xf64>, %wo: tensor<6x8xf64>, %bo: tensor<8xf64>, %w1: tensor<8x7xf64>, %w2: tensor<8x7xf64>, %alpha: tensor<f64>, %path: tensor<5x1xf64>, %gf: tensor<8xf64>, %bf: tensor<8xf64>, %zeros6: tensor<5x6xf64>, %zeros7: tensor<5x7xf64>) -> tensor<5x8xf64> {
  %zeros = arith.constant dense<0.0> : tensor<5x8xf64>
  %y = resid.block pre %x norm(layer gamma %g1 : tensor<8xf64> beta %b1 : tensor<8xf64> epsilon = 1.0e-5) gate(%alpha : tensor<f64>) {skip_scale = 0.9} : tensor<5x8xf64> {
  ^bb0(%h: tensor<5x8xf64>):
    %v = linalg.matmul ins(%h, %wv : tensor<5x8xf64>, tensor<8x6xf64>) outs(%zeros6 : tensor<5x6xf64>) -> tensor<5x6xf64>
    %o = linalg.matmul ins(%v, %wo : tensor<5x6xf64>, tensor<6x8xf64>) outs(%zeros : tensor<5x8xf64>) -> tensor<5x8xf64>
    %f = resid.add_bias %o, %bo : tensor<5x8xf64>, tensor<8xf64>
    resid.yield %f : tensor<5x8xf64>
  }
  %z = resid.block pre %y norm(layer gamma %g2 : tensor<8xf64> epsilon = 1.0e-3 zero_centered_gamma) gate(%path : tensor<5x1xf64>) {branch_scale = 0.5} : tensor<5x8xf64> {
  ^bb0(%h: tensor<5x8xf64>):
    %v = linalg.matmul ins(%h, %w1 : tensor<5x8xf64>, tensor<8x7xf64>) outs(%zeros7 : tensor<5x7xf64>) -> tensor<5x7xf64>
    %a = math.tanh %v : tensor<5x7xf64>
    %f = linalg.matmul indexing_maps = [#rows, #transposed, #output] ins(%a, %w2 : tensor<5x7xf64>, tensor<8x7xf64>) outs(%zeros : tensor<5x8xf64>) -> tensor<5x8xf64>
    resid.yield %f : tensor<5x8xf64>
  }
  %n = resid.layer_norm %z gamma(%gf) beta(%bf) {epsilon = 1.0e-4} : tensor<5x8xf64>, tensor<8xf64>, tensor<8xf64>
  return %n : tensor<5x8xf64>
}

// A loop over layers whose weights and biases are slices of stacks; a norm that reads each layer's stream; dynamic rows.
func.func @stacked_in_a_loop(%x: tensor<?x8xf64>, %gs: tensor<3x8xf64>, %ws: tensor<3x8x8xf64>, %bs: tensor<3x8xf64>, %gf: tensor<8xf64>) -> tensor<?x8xf64> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f64
  %rows = tensor.dim %x, %c0 : tensor<?x8xf64>
  %empty = tensor.empty(%rows) : tensor<?x8xf64>
  %zeros = linalg.fill ins(%zero : f64) outs(%empty : tensor<?x8xf64>) -> tensor<?x8xf64>
  %y, %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %x, %t = %zeros) -> (tensor<?x8xf64>, tensor<?x8xf64>) {
    %g = tensor.extract_slice %gs[%i, 0] [1, 8] [1, 1] : tensor<3x8xf64> to tensor<8xf64>
    %w = tensor.extract_slice %ws[%i, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<3x8x8xf64> to tensor<8x8xf64>
    %b = tensor.extract_slice %bs[%i, 0] [1, 8] [1, 1] : tensor<3x8xf64> to tensor<8xf64>
    %a = resid.layer_norm %s {epsilon = 1.0e-2} : tensor<?x8xf64>
    %next = arith.addf %t, %a : tensor<?x8xf64>
    %z = resid.block pre %s norm(layer gamma %g : tensor<8xf64> epsilon = 1.0e-5) : tensor<?x8xf64> {
    ^bb0(%h: tensor<?x8xf64>):
      %e = math.tanh %h : tensor<?x8xf64>
      %m = linalg.matmul ins(%e, %w : tensor<?x8xf64>, tensor<8x8xf64>) outs(%zeros : tensor<?x8xf64>) -> tensor<?x8xf64>
      %f = resid.add_bias %m, %b : tensor<?x8xf64>, tensor<8xf64>
      resid.yield %f : tensor<?x8xf64>
    }
    scf.yield %z, %next : tensor<?x8xf64>, tensor<?x8xf64>
  }
  %n = resid.layer_norm %y gamma(%gf) {epsilon = 1.0e-4} : tensor<?x8xf64>, tensor<8xf64>
  %r = arith.addf %n, %sum : tensor<?x8xf64>
  return %r : tensor<?x8xf64>
}

// One weight writes in two blocks, once from either side, and is the head as well, which keeps it as it is. The bias is what
// the contraction starts from. The raw entry is read beside the stack.
func.func @tied_weight(%x: tensor<5x8xf64>, %g1: tensor<8xf64>, %g2: tensor<8xf64>, %g3: tensor<8xf64>, %w: tensor<8x8xf64>, %b: tensor<8xf64>) -> tensor<5x8xf64> {
  %zeros = arith.constant dense<0.0> : tensor<5x8xf64>
  %empty = tensor.empty() : tensor<5x8xf64>
  %start = linalg.broadcast ins(%b : tensor<8xf64>) outs(%empty : tensor<5x8xf64>) dimensions = [0]
  %y = resid.block pre %x norm(layer gamma %g1 : tensor<8xf64> epsilon = 1.0e-5) : tensor<5x8xf64> {
  ^bb0(%h: tensor<5x8xf64>):
    %f = linalg.matmul ins(%h, %w : tensor<5x8xf64>, tensor<8x8xf64>) outs(%start : tensor<5x8xf64>) -> tensor<5x8xf64>
    resid.yield %f : tensor<5x8xf64>
  }
  %z = resid.block pre %y norm(layer gamma %g2 : tensor<8xf64> epsilon = 1.0e-5) : tensor<5x8xf64> {
  ^bb0(%h: tensor<5x8xf64>):
    %f = linalg.matmul indexing_maps = [#rows, #transposed, #output] ins(%h, %w : tensor<5x8xf64>, tensor<8x8xf64>) outs(%zeros : tensor<5x8xf64>) -> tensor<5x8xf64>
    resid.yield %f : tensor<5x8xf64>
  }
  %n = resid.layer_norm %z gamma(%g3) {epsilon = 1.0e-5} : tensor<5x8xf64>, tensor<8xf64>
  %logits = linalg.matmul ins(%n, %w : tensor<5x8xf64>, tensor<8x8xf64>) outs(%x : tensor<5x8xf64>) -> tensor<5x8xf64>
  return %logits : tensor<5x8xf64>
}

// Samples and positions; heads and their width are summed over together; drop path; the bias comes by an elementwise op. Two
// norms read the end of the stack.
func.func @samples_and_heads(%x: tensor<2x?x8xf64>, %g1: tensor<8xf64>, %wo: tensor<3x2x8xf64>, %bo: tensor<8xf64>, %wv: tensor<8x3x2xf64>, %path: tensor<2x1x1xf64>, %gf: tensor<8xf64>, %zeros: tensor<2x?x3x2xf64>) -> tensor<2x?x8xf64> {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f64
  %positions = tensor.dim %x, %c1 : tensor<2x?x8xf64>
  %empty = tensor.empty(%positions) : tensor<2x?x8xf64>
  %start = linalg.fill ins(%zero : f64) outs(%empty : tensor<2x?x8xf64>) -> tensor<2x?x8xf64>
  %y = resid.block pre %x norm(layer gamma %g1 : tensor<8xf64> epsilon = 1.0e-5) gate(%path : tensor<2x1x1xf64>) : tensor<2x?x8xf64> {
  ^bb0(%h: tensor<2x?x8xf64>):
    %v = linalg.contract indexing_maps = [affine_map<(s, p, a, c, d) -> (s, p, d)>, affine_map<(s, p, a, c, d) -> (d, a, c)>, affine_map<(s, p, a, c, d) -> (s, p, a, c)>]
        ins(%h, %wv : tensor<2x?x8xf64>, tensor<8x3x2xf64>) outs(%zeros : tensor<2x?x3x2xf64>) -> tensor<2x?x3x2xf64>
    %o = linalg.contract indexing_maps = [affine_map<(s, p, d, a, c) -> (s, p, a, c)>, affine_map<(s, p, d, a, c) -> (a, c, d)>, affine_map<(s, p, d, a, c) -> (s, p, d)>]
        ins(%v, %wo : tensor<2x?x3x2xf64>, tensor<3x2x8xf64>) outs(%start : tensor<2x?x8xf64>) -> tensor<2x?x8xf64>
    %f = linalg.generic {indexing_maps = [affine_map<(s, p, d) -> (d)>, affine_map<(s, p, d) -> (s, p, d)>, affine_map<(s, p, d) -> (s, p, d)>], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%bo, %o : tensor<8xf64>, tensor<2x?x8xf64>) outs(%empty : tensor<2x?x8xf64>) {
    ^bb0(%bias: f64, %element: f64, %out: f64):
      %sum = arith.addf %bias, %element : f64
      linalg.yield %sum : f64
    } -> tensor<2x?x8xf64>
    resid.yield %f : tensor<2x?x8xf64>
  }
  %n = resid.layer_norm %y gamma(%gf) {epsilon = 1.0e-5} : tensor<2x?x8xf64>, tensor<8xf64>
  %m = resid.layer_norm %y {epsilon = 1.0e-1} : tensor<2x?x8xf64>
  %r = arith.mulf %n, %m : tensor<2x?x8xf64>
  return %r : tensor<2x?x8xf64>
}

// A layer norm without γ after the branch hands out rows of mean zero: there is no weight to change.
func.func @peri(%x: tensor<5x8xf64>, %g1: tensor<8xf64>, %g2: tensor<8xf64>, %w: tensor<8x8xf64>) -> tensor<5x8xf64> {
  %zeros = arith.constant dense<0.0> : tensor<5x8xf64>
  %y = resid.block peri %x norm(layer gamma %g1 : tensor<8xf64> epsilon = 1.0e-5) norm(layer epsilon = 1.0e-2) : tensor<5x8xf64> {
  ^bb0(%h: tensor<5x8xf64>):
    %f = linalg.matmul ins(%h, %w : tensor<5x8xf64>, tensor<8x8xf64>) outs(%zeros : tensor<5x8xf64>) -> tensor<5x8xf64>
    resid.yield %f : tensor<5x8xf64>
  }
  %n = resid.layer_norm %y gamma(%g2) {epsilon = 1.0e-5} : tensor<5x8xf64>, tensor<8xf64>
  return %n : tensor<5x8xf64>
}

// Constant weights become new constants: nothing is left to prepare.
func.func @constants(%x: tensor<?x3xf64>, %g: tensor<3xf64>) -> tensor<?x3xf64> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f64
  %rows = tensor.dim %x, %c0 : tensor<?x3xf64>
  %empty = tensor.empty(%rows) : tensor<?x3xf64>
  %zeros = linalg.fill ins(%zero : f64) outs(%empty : tensor<?x3xf64>) -> tensor<?x3xf64>
  %w = arith.constant dense<[[1.0, -2.0, 7.0], [0.5, 4.0, 1.5], [-3.0, 0.125, 9.0]]> : tensor<3x3xf64>
  %b = arith.constant dense<[10.0, 20.0, -5.0]> : tensor<3xf64>
  %y = resid.block pre %x norm(layer gamma %g : tensor<3xf64> epsilon = 1.0e-5) : tensor<?x3xf64> {
  ^bb0(%h: tensor<?x3xf64>):
    %m = linalg.matmul ins(%h, %w : tensor<?x3xf64>, tensor<3x3xf64>) outs(%zeros : tensor<?x3xf64>) -> tensor<?x3xf64>
    %f = resid.add_bias %m, %b : tensor<?x3xf64>, tensor<3xf64>
    resid.yield %f : tensor<?x3xf64>
  }
  %n = resid.layer_norm %y {epsilon = 1.0e-5} : tensor<?x3xf64>
  return %n : tensor<?x3xf64>
}

// An encoder, and a decoder whose branch reads what the encoder's final norm hands out: two stacks, one function.
func.func @two_stacks(%x: tensor<5x8xf64>, %t: tensor<5x8xf64>, %g1: tensor<8xf64>, %g2: tensor<8xf64>, %ge: tensor<8xf64>, %be: tensor<8xf64>, %gd: tensor<8xf64>, %we: tensor<8x8xf64>, %wd: tensor<8x8xf64>) -> tensor<5x8xf64> {
  %zeros = arith.constant dense<0.0> : tensor<5x8xf64>
  %y = resid.block pre %x norm(layer gamma %g1 : tensor<8xf64> epsilon = 1.0e-5) : tensor<5x8xf64> {
  ^bb0(%h: tensor<5x8xf64>):
    %f = linalg.matmul ins(%h, %we : tensor<5x8xf64>, tensor<8x8xf64>) outs(%zeros : tensor<5x8xf64>) -> tensor<5x8xf64>
    resid.yield %f : tensor<5x8xf64>
  }
  %memory = resid.layer_norm %y gamma(%ge) beta(%be) {epsilon = 1.0e-5} : tensor<5x8xf64>, tensor<8xf64>, tensor<8xf64>
  %z = resid.block pre %t norm(layer gamma %g2 : tensor<8xf64> epsilon = 1.0e-5) : tensor<5x8xf64> {
  ^bb0(%h: tensor<5x8xf64>):
    %a = arith.mulf %h, %memory : tensor<5x8xf64>
    %f = linalg.matmul ins(%a, %wd : tensor<5x8xf64>, tensor<8x8xf64>) outs(%zeros : tensor<5x8xf64>) -> tensor<5x8xf64>
    resid.yield %f : tensor<5x8xf64>
  }
  %n = resid.layer_norm %z gamma(%gd) {epsilon = 1.0e-5} : tensor<5x8xf64>, tensor<8xf64>
  return %n : tensor<5x8xf64>
}
