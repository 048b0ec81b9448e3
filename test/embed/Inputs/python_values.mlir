// What resid_kernels.py is handed over in python_values.py.

func.func @norm(%x: tensor<?x8xf32>, %gamma: tensor<8xf32>) -> tensor<?x8xf32> {
  %y = resid.rms_norm %x gamma(%gamma) {epsilon = 1.0e-5} : tensor<?x8xf32>, tensor<8xf32>
  return %y : tensor<?x8xf32>
}

func.func @sum(%x: tensor<?x8xbf16>, %f: tensor<?x8xbf16>) -> tensor<?x8xbf16> {
  %y = resid.add %x, %f : tensor<?x8xbf16>
  return %y : tensor<?x8xbf16>
}

// A number of each kind comes back.
func.func @numbers(%a: f32, %b: bf16, %c: f16, %d: i8, %e: index, %f: i1)
    -> (tensor<f32>, tensor<bf16>, tensor<f16>, tensor<i8>, tensor<index>, tensor<i1>) {
  %0 = tensor.from_elements %a : tensor<f32>
  %1 = tensor.from_elements %b : tensor<bf16>
  %2 = tensor.from_elements %c : tensor<f16>
  %3 = tensor.from_elements %d : tensor<i8>
  %4 = tensor.from_elements %e : tensor<index>
  %5 = tensor.from_elements %f : tensor<i1>
  return %0, %1, %2, %3, %4, %5 : tensor<f32>, tensor<bf16>, tensor<f16>, tensor<i8>, tensor<index>, tensor<i1>
}
