// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family SubLayers: what the branches of a Transformer are made of, beside attention.

#ifndef RESID_DIALECT_SUBLAYERS
#define RESID_DIALECT_SUBLAYERS

include "dialect/EqualSizes.td"
include "dialect/ResidBase.td"

def Resid_LinearOp : Resid_Op<"linear", [DeclareOpInterfaceMethods<Resid_EqualSizesOpInterface>]> {
  let summary = "linear layer: a product with a weight, and a bias";
  let description = [{
    Multiplies each row by a weight that all rows share, and adds a bias.

    **Formula.** `y[…, j] = Σ_k x[…, k]·weight[j, k] + bias[j]`. With `transposed`, the weight's element is
    `weight[k, j]`.

    **Operands and results.**
    - `x`: `[…, in]`, of f16, bf16, f32 or f64. Every dimension may be dynamic.
    - `weight`: `[out, in]`, as PyTorch and most checkpoints store it. Any of these float types.
    - `bias`, optional: `[out]`, any of these float types.
    - `transposed`: unit attribute. The weight is `[in, out]`, as the checkpoints of GPT-2 store it.
    - result: the shape of `x` with `out` in place of `in`. Its element type is that of `x`, unless the text says
      another one (`-> tensor<…xf32>`).

    **Constraints.**
    - `linear.C1`: tensors are ranked, of f16, bf16, f32 or f64. Their types have no encoding, and they hold at most 2^47
      bytes. `x` and the result have rank 1 or more.
    - `linear.C2`: `weight` has rank 2.
    - `linear.C3`: the input features of `weight` agree with the last dimension of `x`. Two sizes agree where they are
      equal or one of them is dynamic.
    - `linear.C4`: the result has the leading dimensions of `x`, and the output features of `weight` as its last one.
    - `linear.C5`: `bias` has rank 1, and its size agrees with the last dimension of the result.

    **Not allowed.** The bias does not broadcast. A weight per sample is no linear layer: write `linalg.batch_matmul`.

    **Gradient.** `dx = dy·weight`, `dweight = dyᵀ·x` over all rows, and `dbias` is `dy` summed over the rows. With
    `transposed`, both products are transposed.

    **Rounding.** The *arithmetic type* is f64 if any operand or the result is f64, and f32 otherwise. All operands are
    widened to it. Each element is one chain `acc = fma(x, weight, acc)`, which starts from +0 and goes over the input
    features in ascending order. The bias is added to it in the arithmetic type. The sum is rounded once, to the result's
    type. A bias of zeros does not fold away, since `-0 + +0` is `+0`.

    **Example.**
    ```mlir
    func.func @feed_forward(%x: tensor<?x768xbf16>, %up: tensor<3072x768xbf16>, %bias: tensor<3072xf32>,
                            %down: tensor<3072x768xbf16>) -> (tensor<?x3072xbf16>, tensor<?x768xf32>) {
      %h = resid.linear %x, %up bias(%bias) : tensor<?x768xbf16>, tensor<3072x768xbf16>, tensor<3072xf32>
      %y = resid.linear %h, %down {transposed} : tensor<?x3072xbf16>, tensor<3072x768xbf16> -> tensor<?x768xf32>
      return %h, %y : tensor<?x3072xbf16>, tensor<?x768xf32>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$x, Resid_Tensor:$weight, Optional<Resid_Tensor>:$bias, UnitAttr:$transposed); // linear.C1
  let results = (outs Resid_Rows:$result); // linear.C1
  let hasCustomAssemblyFormat = 1;
  let builders = [
    // The result has the element type of x.
    OpBuilder<(ins "::mlir::Value":$x, "::mlir::Value":$weight, CArg<"::mlir::Value", "{}">:$bias,
                   CArg<"bool", "false">:$transposed)>];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The dimensions of the weight that are input features and output features.
    int64_t getInputAxis() { return getTransposed() ? 0 : 1; }
    int64_t getOutputAxis() { return getTransposed() ? 1 : 0; }
    /// f64 if an operand or the result is f64, else f32.
    ::mlir::FloatType getArithmeticType();
  }];
}

#endif
