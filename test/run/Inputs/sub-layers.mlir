// Sub-layers of resid, with TX, TW, TB and TY for the element types.
func.func @linear(%x: tensor<?x?xTX>, %w: tensor<?x?xTW>, %b: tensor<?xTB>) -> (tensor<?x?xTY>, tensor<?x?xTY>) {
  %0 = resid.linear %x, %w bias(%b) : tensor<?x?xTX>, tensor<?x?xTW>, tensor<?xTB> -> tensor<?x?xTY>
  %1 = resid.linear %x, %w : tensor<?x?xTX>, tensor<?x?xTW> -> tensor<?x?xTY>
  return %0, %1 : tensor<?x?xTY>, tensor<?x?xTY>
}

func.func @linear_transposed(%x: tensor<3x?x9xTX>, %w: tensor<9x?xTW>, %b: tensor<?xTB>) -> tensor<3x?x?xTY> {
  %0 = resid.linear %x, %w bias(%b) {transposed} : tensor<3x?x9xTX>, tensor<9x?xTW>, tensor<?xTB> -> tensor<3x?x?xTY>
  return %0 : tensor<3x?x?xTY>
}

// Both orders of weights, in sizes that do not fill panels.
func.func @layers(%x: tensor<?x24xTX>, %w: tensor<40x24xTW> {resid.weight}, %b: tensor<40xTB>, %v: tensor<40x9xTW> {resid.weight}) -> tensor<?x9xTY> {
  %h = resid.linear %x, %w bias(%b) : tensor<?x24xTX>, tensor<40x24xTW>, tensor<40xTB>
  %y = resid.linear %h, %v {transposed} : tensor<?x40xTX>, tensor<40x9xTW> -> tensor<?x9xTY>
  return %y : tensor<?x9xTY>
}

func.func @activations(%x: tensor<?x?xTX>, %up: tensor<?x?xTX>)
    -> (tensor<?x?xTX>, tensor<?x?xTX>, tensor<?x?xTX>, tensor<?x?xTX>, tensor<?x?xTX>, tensor<?x?xTX>, tensor<?x?xTX>) {
  %0 = resid.activation relu %x : tensor<?x?xTX>
  %1 = resid.activation gelu %x : tensor<?x?xTX>
  %2 = resid.activation gelu_tanh %x : tensor<?x?xTX>
  %3 = resid.activation silu %x : tensor<?x?xTX>
  %4 = resid.activation swiglu %x, %up : tensor<?x?xTX>
  %5 = resid.activation geglu %x, %up : tensor<?x?xTX>
  %6 = resid.activation geglu_tanh %x, %up : tensor<?x?xTX>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<?x?xTX>, tensor<?x?xTX>, tensor<?x?xTX>, tensor<?x?xTX>, tensor<?x?xTX>, tensor<?x?xTX>, tensor<?x?xTX>
}

// A whole feed-forward layer: two products, of which one has the activation behind it.
func.func @feed_forward(%x: tensor<?x24xTX>, %gate: tensor<40x24xTW>, %up: tensor<40x24xTW>, %down: tensor<24x40xTW>) -> tensor<?x24xTX> {
  %g = resid.linear %x, %gate : tensor<?x24xTX>, tensor<40x24xTW>
  %u = resid.linear %x, %up : tensor<?x24xTX>, tensor<40x24xTW>
  %a = resid.activation swiglu %g, %u : tensor<?x40xTX>
  %f = resid.linear %a, %down : tensor<?x40xTX>, tensor<24x40xTW>
  %y = resid.add %x, %f : tensor<?x24xTX>
  return %y : tensor<?x24xTX>
}
