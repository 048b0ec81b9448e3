// Numbers as integers of 8 bits and back, by all granularities, with TX in place of a type.

func.func @rows(%x: tensor<?x45xTX>) -> (tensor<?x45xi8>, tensor<?xf32>) {
  %q, %scale = resid.quantize %x {granularity = row} : tensor<?x45xTX>
  return %q, %scale : tensor<?x45xi8>, tensor<?xf32>
}

func.func @whole(%x: tensor<?x45xTX>) -> (tensor<?x45xi8>, tensor<f32>) {
  %q, %scale = resid.quantize %x {granularity = tensor} : tensor<?x45xTX>
  return %q, %scale : tensor<?x45xi8>, tensor<f32>
}

// The last group has 5.
func.func @groups(%x: tensor<?x45xTX>) -> (tensor<?x45xi8>, tensor<?x3xf32>) {
  %q, %scale = resid.quantize %x {granularity = group 20} : tensor<?x45xTX>
  return %q, %scale : tensor<?x45xi8>, tensor<?x3xf32>
}

func.func @equal_groups(%x: tensor<?x45xTX>) -> (tensor<?x45xi8>, tensor<?x3xf32>) {
  %q, %scale = resid.quantize %x {granularity = group 15} : tensor<?x45xTX>
  return %q, %scale : tensor<?x45xi8>, tensor<?x3xf32>
}

func.func @static_rows(%x: tensor<?x45xTX>, %scale: tensor<?xf32>) -> tensor<?x45xi8> {
  %q = resid.quantize %x scale(%scale) {granularity = row} : tensor<?x45xTX>, tensor<?xf32>
  return %q : tensor<?x45xi8>
}

func.func @static_groups(%x: tensor<?x45xTX>, %scale: tensor<?x3xf32>) -> tensor<?x45xi8> {
  %q = resid.quantize %x scale(%scale) {granularity = group 20} : tensor<?x45xTX>, tensor<?x3xf32>
  return %q : tensor<?x45xi8>
}

func.func @back(%q: tensor<?x45xi8>, %rows: tensor<?xf32>, %groups: tensor<?x3xf32>, %whole: tensor<f32>)
    -> (tensor<?x45xTX>, tensor<?x45xf32>, tensor<?x45xf32>) {
  %0 = resid.dequantize %q scale(%rows) {granularity = row} : tensor<?x45xi8>, tensor<?xf32> -> tensor<?x45xTX>
  %1 = resid.dequantize %q scale(%groups) {granularity = group 20} : tensor<?x45xi8>, tensor<?x3xf32>
  %2 = resid.dequantize %q scale(%whole) {granularity = tensor} : tensor<?x45xi8>, tensor<f32>
  return %0, %1, %2 : tensor<?x45xTX>, tensor<?x45xf32>, tensor<?x45xf32>
}

// One kernel each: the sum is stored, and the norm is not.
func.func @after_rms_norm(%x: tensor<?x1000xTX>, %f: tensor<?x1000xTX>, %gamma: tensor<1000xf32>)
    -> (tensor<?x1000xi8>, tensor<?xf32>, tensor<?x1000xTX>) {
  %sum = resid.add %x, %f : tensor<?x1000xTX>
  %norm = resid.rms_norm %sum gamma(%gamma) {epsilon = 1.0e-6} : tensor<?x1000xTX>, tensor<1000xf32>
  %q, %scale = resid.quantize %norm {granularity = row} : tensor<?x1000xTX>
  return %q, %scale, %sum : tensor<?x1000xi8>, tensor<?xf32>, tensor<?x1000xTX>
}

func.func @after_layer_norm(%x: tensor<?x1000xTX>, %gamma: tensor<1000xf32>, %beta: tensor<1000xf32>, %scale: tensor<f32>)
    -> (tensor<?x1000xi8>, tensor<?x1000xTX>) {
  %norm = resid.layer_norm %x gamma(%gamma) beta(%beta) {epsilon = 1.0e-5}
      : tensor<?x1000xTX>, tensor<1000xf32>, tensor<1000xf32>
  %q = resid.quantize %norm scale(%scale) {granularity = tensor} : tensor<?x1000xTX>, tensor<f32>
  return %q, %norm : tensor<?x1000xi8>, tensor<?x1000xTX>
}

// The same bytes as @after_rms_norm, written as one op, and as a block.
func.func @add_norm(%x: tensor<?x1000xTX>, %f: tensor<?x1000xTX>, %gamma: tensor<1000xf32>)
    -> (tensor<?x1000xi8>, tensor<?xf32>, tensor<?x1000xTX>) {
  %q, %sum, %scale = resid.add_norm rms %x, %f gamma(%gamma) {epsilon = 1.0e-6}
      : tensor<?x1000xTX>, tensor<1000xf32> -> tensor<?x1000xi8>, tensor<?x1000xTX>, tensor<?xf32>
  return %q, %scale, %sum : tensor<?x1000xi8>, tensor<?xf32>, tensor<?x1000xTX>
}

func.func @block(%x: tensor<?x1000xTX>, %f: tensor<?x1000xTX>, %gamma: tensor<1000xf32>)
    -> (tensor<?x1000xi8>, tensor<?xf32>) {
  %q, %scale = resid.block post %x norm(rms gamma %gamma : tensor<1000xf32> epsilon = 1.0e-6)
      : tensor<?x1000xTX> -> tensor<?x1000xi8>, tensor<?xf32> {
  ^bb0(%h: tensor<?x1000xTX>):
    resid.yield %f : tensor<?x1000xTX>
  }
  return %q, %scale : tensor<?x1000xi8>, tensor<?xf32>
}

// The same bytes as @after_layer_norm.
func.func @layer_norm(%x: tensor<?x1000xTX>, %gamma: tensor<1000xf32>, %beta: tensor<1000xf32>, %scale: tensor<f32>)
    -> tensor<?x1000xi8> {
  %q = resid.layer_norm %x gamma(%gamma) beta(%beta) quantize(tensor scale %scale : tensor<f32>) {epsilon = 1.0e-5}
      : tensor<?x1000xTX>, tensor<1000xf32>, tensor<1000xf32> -> tensor<?x1000xi8>
  return %q : tensor<?x1000xi8>
}

// The same as @after_rms_norm, apart.
func.func @norm(%x: tensor<?x1000xTX>, %f: tensor<?x1000xTX>, %gamma: tensor<1000xf32>) -> tensor<?x1000xTX> {
  %sum = resid.add %x, %f : tensor<?x1000xTX>
  %norm = resid.rms_norm %sum gamma(%gamma) {epsilon = 1.0e-6} : tensor<?x1000xTX>, tensor<1000xf32>
  return %norm : tensor<?x1000xTX>
}

func.func @quantize(%x: tensor<?x1000xTX>) -> (tensor<?x1000xi8>, tensor<?xf32>) {
  %q, %scale = resid.quantize %x {granularity = row} : tensor<?x1000xTX>
  return %q, %scale : tensor<?x1000xi8>, tensor<?xf32>
}
