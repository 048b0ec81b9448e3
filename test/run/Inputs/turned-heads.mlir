// Norms of heads before their rotary embedding, with TX for the type of all but the tables: pairs in one step of columns and in two,
// in whole vectors and across them, columns without a pair, steps that are not whole, more columns than code is unrolled for,
// and a sum that is a result too.
func.func @halves(%x: tensor<2x?x?x128xTX>, %g: tensor<128xTX>, %c: tensor<?x64xf32>, %s: tensor<?x64xf32>) -> tensor<2x?x?x128xTX> {
  %n = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<2x?x?x128xTX>, tensor<128xTX>
  %y = resid.rotary %n cos(%c) sin(%s) : tensor<2x?x?x128xTX>, tensor<?x64xf32>, tensor<?x64xf32>
  return %y : tensor<2x?x?x128xTX>
}

func.func @pairs(%x: tensor<2x?x?x128xTX>, %g: tensor<128xTX>, %b: tensor<128xTX>, %c: tensor<?x64xf32>, %s: tensor<?x64xf32>)
    -> (tensor<2x?x?x128xTX>, tensor<2x?x?x128xTX>) {
  %n = resid.layer_norm %x gamma(%g) beta(%b) {epsilon = 1.0e-5} : tensor<2x?x?x128xTX>, tensor<128xTX>, tensor<128xTX>
  %y = resid.rotary %n cos(%c) sin(%s) {interleaved} : tensor<2x?x?x128xTX>, tensor<?x64xf32>, tensor<?x64xf32>
  return %y, %n : tensor<2x?x?x128xTX>, tensor<2x?x?x128xTX>
}

func.func @some_halves(%x: tensor<?x?x80xTX>, %g: tensor<80xTX>, %c: tensor<?x12xf32>, %s: tensor<?x12xf32>) -> tensor<?x?x80xTX> {
  %n = resid.rms_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<?x?x80xTX>, tensor<80xTX>
  %y = resid.rotary %n cos(%c) sin(%s) : tensor<?x?x80xTX>, tensor<?x12xf32>, tensor<?x12xf32>
  return %y : tensor<?x?x80xTX>
}

func.func @some_pairs(%x: tensor<?x?x77xTX>, %c: tensor<?x38xf32>, %s: tensor<?x38xf32>) -> tensor<?x?x77xTX> {
  %n = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<?x?x77xTX>
  %y = resid.rotary %n cos(%c) sin(%s) {interleaved} : tensor<?x?x77xTX>, tensor<?x38xf32>, tensor<?x38xf32>
  return %y : tensor<?x?x77xTX>
}

func.func @wide(%x: tensor<?x1100xTX>, %c: tensor<?x550xf32>, %s: tensor<?x550xf32>) -> (tensor<?x1100xTX>, tensor<?x1100xTX>) {
  %n = resid.rms_norm %x {epsilon = 1.0e-5} : tensor<?x1100xTX>
  %y = resid.rotary %n cos(%c) sin(%s) : tensor<?x1100xTX>, tensor<?x550xf32>, tensor<?x550xf32>
  %z = resid.rotary %n cos(%c) sin(%s) {interleaved} : tensor<?x1100xTX>, tensor<?x550xf32>, tensor<?x550xf32>
  return %y, %z : tensor<?x1100xTX>, tensor<?x1100xTX>
}

func.func @summed(%x: tensor<?x64xTX>, %f: tensor<?x64xTX>, %c: tensor<?x32xf32>, %s: tensor<?x32xf32>) -> (tensor<?x64xTX>, tensor<?x64xTX>) {
  %h = resid.add %x, %f : tensor<?x64xTX>
  %n = resid.rms_norm %h {epsilon = 1.0e-5} : tensor<?x64xTX>
  %y = resid.rotary %n cos(%c) sin(%s) : tensor<?x64xTX>, tensor<?x32xf32>, tensor<?x32xf32>
  return %y, %h : tensor<?x64xTX>, tensor<?x64xTX>
}

// As models have it: heads are split after a product.
func.func @split(%x: tensor<3x?x80xTX>, %g: tensor<20xTX>, %c: tensor<?x10xf32>, %s: tensor<?x10xf32>) -> tensor<3x4x?x20xTX> {
  %one = arith.constant 1 : index
  %positions = tensor.dim %x, %one : tensor<3x?x80xTX>
  %heads = tensor.expand_shape %x [[0], [1], [2, 3]] output_shape [3, %positions, 4, 20] : tensor<3x?x80xTX> into tensor<3x?x4x20xTX>
  %empty = tensor.empty(%positions) : tensor<3x4x?x20xTX>
  %h = linalg.transpose ins(%heads : tensor<3x?x4x20xTX>) outs(%empty : tensor<3x4x?x20xTX>) permutation = [0, 2, 1, 3]
  %n = resid.rms_norm %h gamma(%g) {epsilon = 1.0e-5} : tensor<3x4x?x20xTX>, tensor<20xTX>
  %y = resid.rotary %n cos(%c) sin(%s) : tensor<3x4x?x20xTX>, tensor<?x10xf32>, tensor<?x10xf32>
  return %y : tensor<3x4x?x20xTX>
}

// What @pairs does after its norm.
func.func @turn(%n: tensor<2x?x?x128xTX>, %c: tensor<?x64xf32>, %s: tensor<?x64xf32>) -> tensor<2x?x?x128xTX> {
  %y = resid.rotary %n cos(%c) sin(%s) {interleaved} : tensor<2x?x?x128xTX>, tensor<?x64xf32>, tensor<?x64xf32>
  return %y : tensor<2x?x?x128xTX>
}
