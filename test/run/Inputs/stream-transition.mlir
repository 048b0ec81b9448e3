// A transition between two sub-layers on streams: write, projection, coefficients, read and norm.
#id = affine_map<(r, j) -> (r, j)>
#col = affine_map<(r, j) -> (j)>
#one = affine_map<(r, j) -> ()>
func.func @t_f32(%x: tensor<?x2x70xf32>, %y: tensor<?x70xf32>, %b: tensor<?x2x1xf32>, %c: tensor<?x2x2xf32>, %w: tensor<8x140xf32>, %s: tensor<3xf32>, %base: tensor<8xf32>, %gamma: tensor<70xf32>)
    -> (tensor<?x2x70xf32>, tensor<?x70xf32>, tensor<?x2x1xf32>, tensor<?x2x2xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x2x70xf32>
  %two = arith.constant 2.0 : f32
  %eps = arith.constant 1.0e-6 : f32
  %X = resid.write %x, %y weights(%b) mix(%c) : tensor<?x2x70xf32>, tensor<?x2x1xf32>, tensor<?x2x2xf32>
  %z, %rstd = resid.project %X, %w {epsilon = 1.0e-6} : tensor<?x2x70xf32>, tensor<8x140xf32> -> tensor<?x8xf32>, tensor<?xf32>
  %za = tensor.extract_slice %z[0, 0] [%rows, 2] [1, 1] : tensor<?x8xf32> to tensor<?x2xf32>
  %ba = tensor.extract_slice %base[0] [2] [1] : tensor<8xf32> to tensor<2xf32>
  %sa = tensor.extract_slice %s[0] [1] [1] : tensor<3xf32> to tensor<f32>
  %ea = tensor.empty(%rows) : tensor<?x2xf32>
  %la = linalg.generic {indexing_maps = [#id, #one, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%za, %sa, %ba : tensor<?x2xf32>, tensor<f32>, tensor<2xf32>) outs(%ea : tensor<?x2xf32>) {
  ^bb0(%p: f32, %q: f32, %t: f32, %o: f32):
    %u = math.fma %p, %q, %t : f32
    linalg.yield %u : f32
  } -> tensor<?x2xf32>
  %zp = tensor.extract_slice %z[0, 2] [%rows, 2] [1, 1] : tensor<?x8xf32> to tensor<?x2xf32>
  %bp = tensor.extract_slice %base[2] [2] [1] : tensor<8xf32> to tensor<2xf32>
  %sp = tensor.extract_slice %s[1] [1] [1] : tensor<3xf32> to tensor<f32>
  %ep = tensor.empty(%rows) : tensor<?x2xf32>
  %lp = linalg.generic {indexing_maps = [#id, #one, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%zp, %sp, %bp : tensor<?x2xf32>, tensor<f32>, tensor<2xf32>) outs(%ep : tensor<?x2xf32>) {
  ^bb0(%p: f32, %q: f32, %t: f32, %o: f32):
    %u = math.fma %p, %q, %t : f32
    linalg.yield %u : f32
  } -> tensor<?x2xf32>
  %zc = tensor.extract_slice %z[0, 4] [%rows, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  %bc = tensor.extract_slice %base[4] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %sc = tensor.extract_slice %s[2] [1] [1] : tensor<3xf32> to tensor<f32>
  %ec = tensor.empty(%rows) : tensor<?x4xf32>
  %lc = linalg.generic {indexing_maps = [#id, #one, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%zc, %sc, %bc : tensor<?x4xf32>, tensor<f32>, tensor<4xf32>) outs(%ec : tensor<?x4xf32>) {
  ^bb0(%p: f32, %q: f32, %t: f32, %o: f32):
    %u = math.fma %p, %q, %t : f32
    linalg.yield %u : f32
  } -> tensor<?x4xf32>
  %siga = resid.activation sigmoid %la : tensor<?x2xf32>
  %pre = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%siga : tensor<?x2xf32>) outs(%ea : tensor<?x2xf32>) {
  ^bb0(%p: f32, %o: f32):
    %u = arith.addf %p, %eps : f32
    linalg.yield %u : f32
  } -> tensor<?x2xf32>
  %sigp = resid.activation sigmoid %lp : tensor<?x2xf32>
  %post = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sigp : tensor<?x2xf32>) outs(%ep : tensor<?x2xf32>) {
  ^bb0(%p: f32, %o: f32):
    %u = arith.mulf %p, %two : f32
    linalg.yield %u : f32
  } -> tensor<?x2xf32>
  %pre1 = tensor.expand_shape %pre [[0], [1, 2]] output_shape [%rows, 2, 1] : tensor<?x2xf32> into tensor<?x2x1xf32>
  %post1 = tensor.expand_shape %post [[0], [1, 2]] output_shape [%rows, 2, 1] : tensor<?x2xf32> into tensor<?x2x1xf32>
  %lm = tensor.expand_shape %lc [[0], [1, 2]] output_shape [%rows, 2, 2] : tensor<?x4xf32> into tensor<?x2x2xf32>
  %comb = resid.sinkhorn %lm {iterations = 4, epsilon = 1.0e-6} : tensor<?x2x2xf32>
  %u = resid.read %X weights(%pre1) : tensor<?x2x70xf32>, tensor<?x2x1xf32>
  %h = resid.rms_norm %u gamma(%gamma) {epsilon = 1.0e-6} : tensor<?x70xf32>, tensor<70xf32>
  return %X, %h, %post1, %comb : tensor<?x2x70xf32>, tensor<?x70xf32>, tensor<?x2x1xf32>, tensor<?x2x2xf32>
}
func.func @t_bf16(%x: tensor<?x2x70xbf16>, %y: tensor<?x70xbf16>, %b: tensor<?x2x1xf32>, %c: tensor<?x2x2xf32>, %w: tensor<8x140xf32>, %s: tensor<3xf32>, %base: tensor<8xf32>, %gamma: tensor<70xbf16>)
    -> (tensor<?x2x70xbf16>, tensor<?x70xbf16>, tensor<?x2x1xf32>, tensor<?x2x2xf32>) {
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x2x70xbf16>
  %two = arith.constant 2.0 : f32
  %eps = arith.constant 1.0e-6 : f32
  %X = resid.write %x, %y weights(%b) mix(%c) : tensor<?x2x70xbf16>, tensor<?x2x1xf32>, tensor<?x2x2xf32>
  %z, %rstd = resid.project %X, %w {epsilon = 1.0e-6} : tensor<?x2x70xbf16>, tensor<8x140xf32> -> tensor<?x8xf32>, tensor<?xf32>
  %za = tensor.extract_slice %z[0, 0] [%rows, 2] [1, 1] : tensor<?x8xf32> to tensor<?x2xf32>
  %ba = tensor.extract_slice %base[0] [2] [1] : tensor<8xf32> to tensor<2xf32>
  %sa = tensor.extract_slice %s[0] [1] [1] : tensor<3xf32> to tensor<f32>
  %ea = tensor.empty(%rows) : tensor<?x2xf32>
  %la = linalg.generic {indexing_maps = [#id, #one, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%za, %sa, %ba : tensor<?x2xf32>, tensor<f32>, tensor<2xf32>) outs(%ea : tensor<?x2xf32>) {
  ^bb0(%p: f32, %q: f32, %t: f32, %o: f32):
    %u = math.fma %p, %q, %t : f32
    linalg.yield %u : f32
  } -> tensor<?x2xf32>
  %zp = tensor.extract_slice %z[0, 2] [%rows, 2] [1, 1] : tensor<?x8xf32> to tensor<?x2xf32>
  %bp = tensor.extract_slice %base[2] [2] [1] : tensor<8xf32> to tensor<2xf32>
  %sp = tensor.extract_slice %s[1] [1] [1] : tensor<3xf32> to tensor<f32>
  %ep = tensor.empty(%rows) : tensor<?x2xf32>
  %lp = linalg.generic {indexing_maps = [#id, #one, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%zp, %sp, %bp : tensor<?x2xf32>, tensor<f32>, tensor<2xf32>) outs(%ep : tensor<?x2xf32>) {
  ^bb0(%p: f32, %q: f32, %t: f32, %o: f32):
    %u = math.fma %p, %q, %t : f32
    linalg.yield %u : f32
  } -> tensor<?x2xf32>
  %zc = tensor.extract_slice %z[0, 4] [%rows, 4] [1, 1] : tensor<?x8xf32> to tensor<?x4xf32>
  %bc = tensor.extract_slice %base[4] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %sc = tensor.extract_slice %s[2] [1] [1] : tensor<3xf32> to tensor<f32>
  %ec = tensor.empty(%rows) : tensor<?x4xf32>
  %lc = linalg.generic {indexing_maps = [#id, #one, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%zc, %sc, %bc : tensor<?x4xf32>, tensor<f32>, tensor<4xf32>) outs(%ec : tensor<?x4xf32>) {
  ^bb0(%p: f32, %q: f32, %t: f32, %o: f32):
    %u = math.fma %p, %q, %t : f32
    linalg.yield %u : f32
  } -> tensor<?x4xf32>
  %siga = resid.activation sigmoid %la : tensor<?x2xf32>
  %pre = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%siga : tensor<?x2xf32>) outs(%ea : tensor<?x2xf32>) {
  ^bb0(%p: f32, %o: f32):
    %u = arith.addf %p, %eps : f32
    linalg.yield %u : f32
  } -> tensor<?x2xf32>
  %sigp = resid.activation sigmoid %lp : tensor<?x2xf32>
  %post = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%sigp : tensor<?x2xf32>) outs(%ep : tensor<?x2xf32>) {
  ^bb0(%p: f32, %o: f32):
    %u = arith.mulf %p, %two : f32
    linalg.yield %u : f32
  } -> tensor<?x2xf32>
  %pre1 = tensor.expand_shape %pre [[0], [1, 2]] output_shape [%rows, 2, 1] : tensor<?x2xf32> into tensor<?x2x1xf32>
  %post1 = tensor.expand_shape %post [[0], [1, 2]] output_shape [%rows, 2, 1] : tensor<?x2xf32> into tensor<?x2x1xf32>
  %lm = tensor.expand_shape %lc [[0], [1, 2]] output_shape [%rows, 2, 2] : tensor<?x4xf32> into tensor<?x2x2xf32>
  %comb = resid.sinkhorn %lm {iterations = 4, epsilon = 1.0e-6} : tensor<?x2x2xf32>
  %u = resid.read %X weights(%pre1) : tensor<?x2x70xbf16>, tensor<?x2x1xf32>
  %h = resid.rms_norm %u gamma(%gamma) {epsilon = 1.0e-6} : tensor<?x70xbf16>, tensor<70xbf16>
  return %X, %h, %post1, %comb : tensor<?x2x70xbf16>, tensor<?x70xbf16>, tensor<?x2x1xf32>, tensor<?x2x2xf32>
}
