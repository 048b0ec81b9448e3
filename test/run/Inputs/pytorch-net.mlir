// Two linear layers with a residual connection and a layer norm, and half the squared distance to a target.
!rows = tensor<16x24xf64>

func.func @loss(%x: !rows, %target: !rows, %up: tensor<48x24xf64>, %up_bias: tensor<48xf64>, %down: tensor<24x48xf64>,
                %down_bias: tensor<24xf64>, %gamma: tensor<24xf64>, %beta: tensor<24xf64>) -> tensor<f64> {
  %raised = resid.linear %x, %up bias(%up_bias) : !rows, tensor<48x24xf64>, tensor<48xf64>
  %inner = resid.activation gelu %raised : tensor<16x48xf64>
  %branch = resid.linear %inner, %down bias(%down_bias) : tensor<16x48xf64>, tensor<24x48xf64>, tensor<24xf64>
  %sum = resid.add %x, %branch : !rows
  %y = resid.layer_norm %sum gamma(%gamma) beta(%beta) {epsilon = 1.0e-5} : !rows, tensor<24xf64>, tensor<24xf64>
  %difference = arith.subf %y, %target : !rows
  %square = arith.mulf %difference, %difference : !rows
  %zero = arith.constant dense<0.0> : tensor<f64>
  %total = linalg.reduce {arith.addf} ins(%square : !rows) outs(%zero : tensor<f64>) dimensions = [0, 1]
  %half = arith.constant dense<0.5> : tensor<f64>
  %loss = arith.mulf %total, %half : tensor<f64>
  return %loss : tensor<f64>
}
