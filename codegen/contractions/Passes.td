// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes of the contraction dialect.

#ifndef RESID_CODEGEN_CONTRACTIONS_PASSES
#define RESID_CODEGEN_CONTRACTIONS_PASSES

include "mlir/Pass/PassBase.td"

def FormContractions : Pass<"resid-form-contractions"> {
  let summary = "turn contractions, and what is done to their elements, into contraction kernels";
  let description = [{
    A linalg op on tensors that is a contraction (docs/numerics.md) becomes a `contraction.kernel`. A linalg.transpose of
    a factor is read through, and so is a linalg.unpack of panels that `@F_prepare` packed. The initial values may be
    filled with a scalar or broadcast; then nothing is stored to begin with.

    Elementwise linalg ops on the product join its kernel, one after the other, where each is the only reader of the
    value before it: a bias, an activation, a residual add. The chain ends where the value has other readers, where
    it would be wider in memory than the product, or where an operand is no array of the same loops.

    A contraction with a loop of the static size 0 is its initial value.

    With `takes-integers`, kernels read a weight of integers that `resid.linear` multiplies by, and what they are scaled
    with, in place of the floats computed from these.

    Class: bit-exact. Roundings to storage stay where they are.
  }];
  let options = [Option<"takesIntegers", "takes-integers", "bool", /*default=*/"false",
                        "kernels may read weights of integers">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::resid::contraction::ContractionDialect", "::mlir::tensor::TensorDialect"];
}

#endif
