// Linear layers, with TX, TW, TB and TY for the element types of x, weights, bias and results.
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

// What follows is known as the program is compiled.
func.func @no_features(%x: tensor<9x0xTX>, %w: tensor<8x0xTX>) -> (tensor<9x8xTX>, tensor<9x8xTX>) {
  %0 = resid.linear %x, %w : tensor<9x0xTX>, tensor<8x0xTX>
  %1 = math.exp %0 : tensor<9x8xTX>
  %2 = math.cos %0 : tensor<9x8xTX>
  return %1, %2 : tensor<9x8xTX>, tensor<9x8xTX>
}
