func.func @five(%x: tensor<?x?xf32>, %m: tensor<?x5xf32>) -> tensor<?x?xf32> {
  %dx = resid.group_norm_grad %x, %x statistics(%m, %m, %m) {groups = 5} : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x5xf32>
  return %dx : tensor<?x?xf32>
}
