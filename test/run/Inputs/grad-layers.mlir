// Layers in a loop, with weights in stacks: residual MLPs with a norm in front.
func.func @f(%x: tensor<?x48xf32>, %gamma: tensor<?x48xf32>, %up: tensor<?x96x48xf32>, %down: tensor<?x48x96xf32>,
             %seed: i64, %step: i64) -> tensor<?x48xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %gamma, %c0 : tensor<?x48xf32>
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<?x48xf32>) {
    %g = tensor.extract_slice %gamma[%i, 0] [1, 48] [1, 1] : tensor<?x48xf32> to tensor<48xf32>
    %u = tensor.extract_slice %up[%i, 0, 0] [1, 96, 48] [1, 1, 1] : tensor<?x96x48xf32> to tensor<96x48xf32>
    %d = tensor.extract_slice %down[%i, 0, 0] [1, 48, 96] [1, 1, 1] : tensor<?x48x96xf32> to tensor<48x96xf32>
    %b = func.call @branch(%a, %g, %u, %d, %seed, %step)
        : (tensor<?x48xf32>, tensor<48xf32>, tensor<96x48xf32>, tensor<48x96xf32>, i64, i64) -> tensor<?x48xf32>
    %s = resid.add %a, %b : tensor<?x48xf32>
    scf.yield %s : tensor<?x48xf32>
  }
  return %y : tensor<?x48xf32>
}

func.func private @branch(%x: tensor<?x48xf32>, %g: tensor<48xf32>, %u: tensor<96x48xf32>, %d: tensor<48x96xf32>,
                          %seed: i64, %step: i64) -> tensor<?x48xf32> {
  %z = resid.layer_norm %x gamma(%g) {epsilon = 1.0e-5} : tensor<?x48xf32>, tensor<48xf32>
  %h = resid.linear %z, %u : tensor<?x48xf32>, tensor<96x48xf32>
  %a = resid.activation gelu %h : tensor<?x96xf32>
  %o = resid.linear %a, %d : tensor<?x96xf32>, tensor<48x96xf32>
  %r = resid.dropout %o seed(%seed, %step) {p = 0.1, site = 0} : tensor<?x48xf32>
  return %r : tensor<?x48xf32>
}
