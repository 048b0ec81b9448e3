// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With --transform-interpreter: the pass succeeds, and a function has lost its type.

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %f = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %number = transform.param.constant 1 : i64 -> !transform.param<i64>
    transform.annotate %f "function_type" = %number : !transform.any_op, !transform.param<i64>
    transform.yield
  }
  func.func @f() {
    return
  }
}
