// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes of the attention dialect.

#ifndef RESID_CODEGEN_ATTENTION_PASSES
#define RESID_CODEGEN_ATTENTION_PASSES

include "mlir/Pass/PassBase.td"

def AbsorbHeadTransposes : Pass<"resid-absorb-head-transposes"> {
  let summary = "let attention read and write heads where they lie";
  let description = [{
    Programs split `[tokens, features]` into heads and move these to the front, and back after attention. An
    `attention.kernel` or `attention.backward` reads and writes through such a transpose, and through a reshape that
    only adds or drops a batch of 1. Then nothing is copied.

    Class: bit-exact.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

#endif
