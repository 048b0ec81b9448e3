// Programs that were not compiled once.

// Products without rows, columns or terms by their types.
// call: no_rows bf16[0x8]=0 bf16[8x4]=random:1
func.func @no_rows(%x: tensor<0x8xbf16>, %w: tensor<8x4xbf16>) -> tensor<0x4xbf16> {
  %y = resid.linear %x, %w {transposed} : tensor<0x8xbf16>, tensor<8x4xbf16>
  return %y : tensor<0x4xbf16>
}
// call: no_columns f16[3x8]=random:1 f16[8x0]=0 f16[0]=0
func.func @no_columns(%x: tensor<3x8xf16>, %w: tensor<8x0xf16>, %b: tensor<0xf16>) -> tensor<3x0xf16> {
  %y = resid.linear %x, %w bias(%b) {transposed} : tensor<3x8xf16>, tensor<8x0xf16>, tensor<0xf16>
  return %y : tensor<3x0xf16>
}
// call: no_terms f32[24x0]=0 f16[0x8]=0 f32[8]=random:1 f32[24x8]=random:2
func.func @no_terms(%x: tensor<24x0xf32>, %w: tensor<0x8xf16>, %b: tensor<8xf32>, %c: tensor<24x8xf32>) -> (tensor<24x8xf32>, tensor<24x8xf32>) {
  %y = resid.linear %x, %w bias(%b) {transposed} : tensor<24x0xf32>, tensor<0x8xf16>, tensor<8xf32>
  %v = tensor.empty() : tensor<0x8xf32>
  %z = linalg.matmul ins(%x, %v : tensor<24x0xf32>, tensor<0x8xf32>) outs(%c : tensor<24x8xf32>) -> tensor<24x8xf32>
  return %y, %z : tensor<24x8xf32>, tensor<24x8xf32>
}

// A value that is kept in a local row beside a sum down the rows.
// call: local_row f32[3x8]=random:1 f32[3x8]=random:2
// call: local_row f32[1000x8]=random:1 f32[1000x8]=random:2
func.func @local_row(%x: tensor<?x8xf32>, %dy: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<8xf32>) {
  %d = math.tanh %x : tensor<?x8xf32>
  %n = resid.rms_norm %d {epsilon = 1.0e-5} : tensor<?x8xf32>
  %g = resid.gate_grad %dy, %d : tensor<?x8xf32>, tensor<?x8xf32> -> tensor<8xf32>
  return %n, %g : tensor<?x8xf32>, tensor<8xf32>
}

// One element of a type that is only moved.
// call: one_element f32[1]=random:1 f32[4x3]=random:2
func.func @one_element(%x: tensor<1xf32>, %y: tensor<4x3xf32>) -> (tensor<1xbf16>, tensor<1xf16>, tensor<bf16>, tensor<4x1xbf16>) {
  %0 = resid.gate_grad %x, %x : tensor<1xf32>, tensor<1xf32> -> tensor<1xbf16>
  %1 = resid.gate_grad %x, %x : tensor<1xf32>, tensor<1xf32> -> tensor<1xf16>
  %2 = resid.gate_grad %y, %y : tensor<4x3xf32>, tensor<4x3xf32> -> tensor<bf16>
  %3 = resid.gate_grad %y, %y : tensor<4x3xf32>, tensor<4x3xf32> -> tensor<4x1xbf16>
  return %0, %1, %2, %3 : tensor<1xbf16>, tensor<1xf16>, tensor<bf16>, tensor<4x1xbf16>
}
// call: row_number bf16[2x5]=random:1 bf16[2x5]=random:2
func.func @row_number(%x: tensor<?x5xbf16>, %f: tensor<?x5xbf16>) -> tensor<?x5xbf16> {
  %r = resid.gate_grad %f, %x : tensor<?x5xbf16>, tensor<?x5xbf16> -> tensor<?x1xbf16>
  %s = resid.add %x, %f gate(%r) : tensor<?x5xbf16>, tensor<?x1xbf16>
  %n = resid.layer_norm %s {epsilon = 1.0e-5} : tensor<?x5xbf16>
  return %n : tensor<?x5xbf16>
}

// MLIR takes no slice of a dimension of size 0.
// call: turned_heads f64[1x0x2x3]=0 f64[2x1]=random:2 f64[2x1]=random:3
func.func @turned_heads(%x: tensor<1x0x2x3xf64>, %cos: tensor<2x1xf64>, %sin: tensor<2x1xf64>) -> tensor<1x0x2x3xf64> {
  %y = resid.rotary %x cos(%cos) sin(%sin) : tensor<1x0x2x3xf64>, tensor<2x1xf64>, tensor<2x1xf64>
  return %y : tensor<1x0x2x3xf64>
}
// call: joined f32[3x8]=random:1 f32[0x8]=0 f32[0x3]=0
func.func @joined(%x: tensor<3x8xf32>, %y: tensor<0x8xf32>, %z: tensor<0x3xf32>) -> (tensor<3x8xf32>, tensor<0x11xf32>, tensor<2x8xf32>) {
  %0 = tensor.concat dim(0) %x, %y : (tensor<3x8xf32>, tensor<0x8xf32>) -> tensor<3x8xf32>
  %1 = tensor.concat dim(1) %y, %z : (tensor<0x8xf32>, tensor<0x3xf32>) -> tensor<0x11xf32>
  %half = arith.constant 0.5 : f32
  %2 = tensor.pad %y low[2, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %half : f32
  } : tensor<0x8xf32> to tensor<2x8xf32>
  return %0, %1, %2 : tensor<3x8xf32>, tensor<0x11xf32>, tensor<2x8xf32>
}
