// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family Residual: how a branch joins the stream.

#ifndef RESID_DIALECT_RESIDUAL
#define RESID_DIALECT_RESIDUAL

include "dialect/ResidBase.td"

def Resid_AddOp : Resid_Op<"add"> {
  let summary = "adds a branch to the residual stream";
  let description = [{
    Adds the output of a branch to the residual stream. A gate and two scales are optional.

    **Formula.** `y = skip_scale·x + branch_scale·(gate ⊙ f)`

    **Operands and results.**
    - `x`, the stream: `[…, D]`, of f16, bf16, f32 or f64. Every dimension may be dynamic.
    - `f`, the branch: the type of `x`.
    - `gate`, optional: its shape says what it scales (table below).
    - `skip_scale`, `branch_scale`: float attributes, 1 where they are not written.
    - result: the shape of `x`. It may have a wider element type (`-> tensor<…xf32>`), which keeps a wide stream.

    | shape of the gate | it scales | known as |
    |---|---|---|
    | `tensor<f32>` | the whole branch | ReZero |
    | `[D]` | each feature | LayerScale |
    | `[…, 1]` | each row | |
    | `[B, 1, 1]` | each sample | drop path |
    | the shape of `x` | each element | gated residual |

    **Constraints.**
    - `add.C1`: tensors are ranked, of f16, bf16, f32 or f64. Their types have no encoding, and they hold at most 2^47
      bytes. `x`, `f` and the result have rank 1 or more.
    - `add.C2`: `f` has the type of `x`.
    - `add.C3`: the result has the shape of `x`. Its element type is that of `x` or, for f16 and bf16, f32.
    - `add.C4`: the gate is of f64 only where `x` is.
    - `add.C5`: the gate has at most the rank of `x`, and is aligned with it at the last dimension. Each dimension of
      the gate is a static 1, which broadcasts, or agrees with that of `x`. Two sizes agree where they are equal or one
      of them is dynamic.
    - `add.C6`: both scales are finite in the arithmetic type.

    **Not allowed.** A dynamic dimension of the gate never broadcasts. If it differs from that of `x` at run time, the
    call is answered with a shape error. `x` and `f` do not broadcast. Write a narrow branch on a wide stream with
    `arith.extf`.

    **Gradient.** `dx = skip_scale·dy` and `df = branch_scale·(gate ⊙ dy)`. `dgate` is `branch_scale·(f ⊙ dy)`, summed
    over the dimensions along which the gate broadcasts.

    **Rounding.** The *arithmetic type* is f64 for f64, and f32 otherwise. Operands are widened to it, and the scales
    are rounded to it once. The steps are `u = gate·f`, then `u = branch_scale·u`, then `y = x + u`. Where `skip_scale`
    is not 1, the last step is `y = fma(skip_scale, x, u)`. Factors that are absent or 1 are left out. `y` is rounded
    once, to the result's type. A gate that is a constant 1 folds away. Adding zeros does not fold away, since `-0 + +0`
    is `+0`.

    **Example.**
    ```mlir
    func.func @layer_scale(%x: tensor<4x16x512xbf16>, %f: tensor<4x16x512xbf16>,
                           %gate: tensor<512xf32>)
        -> (tensor<4x16x512xbf16>, tensor<4x16x512xf32>) {
      %y = resid.add %x, %f gate(%gate) {branch_scale = 0.5}
          : tensor<4x16x512xbf16>, tensor<512xf32>
      %wide = resid.add %x, %f : tensor<4x16x512xbf16> -> tensor<4x16x512xf32>
      return %y, %wide : tensor<4x16x512xbf16>, tensor<4x16x512xf32>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$x, Resid_Rows:$f, Optional<Resid_Tensor>:$gate, // add.C1
                       DefaultValuedAttr<Resid_F64Attr, "1.0">:$skip_scale,
                       DefaultValuedAttr<Resid_F64Attr, "1.0">:$branch_scale);
  let results = (outs Resid_Rows:$result); // add.C1
  let assemblyFormat = [{
    $x `,` $f (`gate` `(` $gate^ `)`)? attr-dict `:`
    custom<AddTypes>(ref($gate), type($x), type($f), type($gate), type($result))
  }];
  let builders = [
    // The result has the type of x.
    OpBuilder<(ins "::mlir::Value":$x, "::mlir::Value":$f, CArg<"::mlir::Value", "{}">:$gate,
                   CArg<"double", "1.0">:$skipScale, CArg<"double", "1.0">:$branchScale)>];
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
}

// add_bias.C2: the inferred result type.
def Resid_AddBiasOp : Resid_Op<"add_bias", [InferTypeOpAdaptor]> {
  let summary = "adds a bias along the feature axis";
  let description = [{
    Adds one number per feature to every row of a branch.

    **Formula.** `y[…, j] = f[…, j] + bias[j]`

    **Operands and results.**
    - `f`: `[…, D]`, of f16, bf16, f32 or f64. Every dimension may be dynamic.
    - `bias`: `[D]`, any of these float types.
    - result: the type of `f`.

    **Constraints.**
    - `add_bias.C1`: tensors are ranked, of f16, bf16, f32 or f64. Their types have no encoding, and they hold at most
      2^47 bytes. `f` and the result have rank 1 or more.
    - `add_bias.C2`: the result has the type of `f`.
    - `add_bias.C3`: `bias` has rank 1, and its size agrees with the last dimension of `f`. Two sizes agree where they
      are equal or one of them is dynamic.
    - `add_bias.C4`: `bias` is of f64 only where `f` is.

    **Not allowed.** The bias never broadcasts along the feature axis. Write one number for all features as a constant
    of shape `[D]`.

    **Gradient.** `df = dy`. `dbias` is `dy` summed over the rows.

    **Rounding.** The *arithmetic type* is f64 for f64, and f32 otherwise. Both operands are widened to it and added.
    The sum is rounded once, to the type of `f`. A bias of zeros does not fold away, since `-0 + +0` is `+0`.

    **Example.**
    ```mlir
    func.func @branch_bias(%f: tensor<?x768xbf16>, %bias: tensor<768xf32>) -> tensor<?x768xbf16> {
      %y = resid.add_bias %f, %bias : tensor<?x768xbf16>, tensor<768xf32>
      return %y : tensor<?x768xbf16>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$f, Resid_Tensor:$bias); // add_bias.C1
  let results = (outs Resid_Rows:$result);                 // add_bias.C1
  let assemblyFormat = "$f `,` $bias attr-dict `:` custom<BiasTypes>(type($f), type($bias))";
  let hasVerifier = 1;
}

#endif
