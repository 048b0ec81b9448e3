// Activations, with TX and TW for the element types of x and of weights.
func.func @activations(%x: tensor<?x?xTX>, %up: tensor<?x?xTX>)
    -> (tensor<?x?xTX>, tensor<?x?xTX>, tensor<?x?xTX>, tensor<?x?xTX>, tensor<?x?xTX>, tensor<?x?xTX>, tensor<?x?xTX>,
        tensor<?x?xTX>, tensor<?x?xTX>, tensor<?x?xTX>, tensor<?x?xTX>) {
  %0 = resid.activation relu %x : tensor<?x?xTX>
  %1 = resid.activation gelu %x : tensor<?x?xTX>
  %2 = resid.activation gelu_tanh %x : tensor<?x?xTX>
  %3 = resid.activation silu %x : tensor<?x?xTX>
  %4 = resid.activation swiglu %x, %up : tensor<?x?xTX>
  %5 = resid.activation geglu %x, %up : tensor<?x?xTX>
  %6 = resid.activation geglu_tanh %x, %up : tensor<?x?xTX>
  %7 = resid.activation sigmoid %x : tensor<?x?xTX>
  %8 = resid.activation relu2 %x : tensor<?x?xTX>
  %9 = resid.activation swiglu %x, %up {limit = 2.5} : tensor<?x?xTX>
  %10 = resid.activation swiglu_oai %x, %up {alpha = 1.702, limit = 2.5} : tensor<?x?xTX>
  return %0, %1, %2, %3, %4, %5, %6, %7, %9, %10, %8 : tensor<?x?xTX>, tensor<?x?xTX>, tensor<?x?xTX>, tensor<?x?xTX>, tensor<?x?xTX>, tensor<?x?xTX>, tensor<?x?xTX>, tensor<?x?xTX>, tensor<?x?xTX>, tensor<?x?xTX>, tensor<?x?xTX>
}

// A whole feed-forward layer: two products, of which one has the activation after it.
func.func @feed_forward(%x: tensor<?x24xTX>, %gate: tensor<40x24xTW>, %up: tensor<40x24xTW>, %down: tensor<24x40xTW>) -> tensor<?x24xTX> {
  %g = resid.linear %x, %gate : tensor<?x24xTX>, tensor<40x24xTW>
  %u = resid.linear %x, %up : tensor<?x24xTX>, tensor<40x24xTW>
  %a = resid.activation swiglu %g, %u : tensor<?x40xTX>
  %f = resid.linear %a, %down : tensor<?x40xTX>, tensor<24x40xTW>
  %y = resid.add %x, %f : tensor<?x24xTX>
  return %y : tensor<?x24xTX>
}
