// Linear layers of integers, with open sizes, and with known ones that leave panels and groups of terms unfilled. MROWS,
// OUT and IN stand for sizes.

func.func @open(%q: tensor<?x?xi8>, %w: tensor<?x?xi8>, %rows: tensor<?xf32>, %columns: tensor<?xf32>, %bias: tensor<?xf32>)
    -> tensor<?x?xf32> {
  %y = resid.linear %q, %w x_scale(%rows) weight_scale(%columns) bias(%bias)
      : tensor<?x?xi8>, tensor<?x?xi8>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
  return %y : tensor<?x?xf32>
}

func.func @known(%q: tensor<MROWSxINxi8>, %w: tensor<OUTxINxi8> {resid.weight = "w"}, %rows: tensor<MROWSxf32>,
                 %columns: tensor<OUTxf32>, %bias: tensor<OUTxf32>) -> tensor<MROWSxOUTxf32> {
  %y = resid.linear %q, %w x_scale(%rows) weight_scale(%columns) bias(%bias)
      : tensor<MROWSxINxi8>, tensor<OUTxINxi8>, tensor<MROWSxf32>, tensor<OUTxf32>, tensor<OUTxf32>
  return %y : tensor<MROWSxOUTxf32>
}

// The weight is [in, out], and there is no bias.
func.func @transposed(%q: tensor<?xINxi8>, %w: tensor<INxOUTxi8>, %rows: tensor<?xf32>, %columns: tensor<OUTxf32>)
    -> tensor<?xOUTxf32> {
  %y = resid.linear %q, %w x_scale(%rows) weight_scale(%columns) {transposed}
      : tensor<?xINxi8>, tensor<INxOUTxi8>, tensor<?xf32>, tensor<OUTxf32>
  return %y : tensor<?xOUTxf32>
}
