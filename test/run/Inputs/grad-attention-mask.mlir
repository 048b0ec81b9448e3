// Attention and its backward, with a mask that chooses: query 1 has no key, and nothing reads key 2.
func.func @f(%q: tensor<?x?x5x7xf32>, %k: tensor<?x?x?x7xf32>, %v: tensor<?x?x?x7xf32>, %dy: tensor<?x?x5x7xf32>)
    -> (tensor<?x?x5x7xf32>, tensor<?x?x?x7xf32>, tensor<?x?x?x7xf32>) {
  %mask = arith.constant dense<[[true, true, false, true, false, true], [false, false, false, false, false, false],
      [true, true, false, false, true, true], [false, true, false, true, true, false],
      [true, true, false, true, true, true]]> : tensor<5x6xi1>
  %y, %max, %sum = resid.attention %q, %k, %v mask(%mask) {scale = 0.7}
      : tensor<?x?x5x7xf32>, tensor<?x?x?x7xf32>, tensor<?x?x?x7xf32>, tensor<5x6xi1>
        -> tensor<?x?x5x7xf32>, tensor<?x?x5xf32>, tensor<?x?x5xf32>
  %dq, %dk, %dv = resid.attention_grad %dy, %q, %k, %v statistics(%max, %sum) mask(%mask) {scale = 0.7}
      : tensor<?x?x5x7xf32>, tensor<?x?x5x7xf32>, tensor<?x?x?x7xf32>, tensor<?x?x?x7xf32>, tensor<5x6xi1>
  return %dq, %dk, %dv : tensor<?x?x5x7xf32>, tensor<?x?x?x7xf32>, tensor<?x?x?x7xf32>
}
