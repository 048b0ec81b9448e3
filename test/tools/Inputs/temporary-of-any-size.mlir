// A program whose temporary has a size that no array of the caller has.

func.func @temporary(%n: index) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %values = tensor.empty(%n) : tensor<?xf32>
  %shares = linalg.softmax dimension(0) ins(%values : tensor<?xf32>) outs(%values : tensor<?xf32>) -> tensor<?xf32>
  %scalar = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%zero : f32) outs(%scalar : tensor<f32>) -> tensor<f32>
  %sum = linalg.reduce { arith.addf } ins(%shares : tensor<?xf32>) outs(%start : tensor<f32>) dimensions = [0]
  return %sum : tensor<f32>
}
