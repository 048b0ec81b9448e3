// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family Residual: how a branch joins the stream.

#ifndef RESID_DIALECT_RESIDUAL
#define RESID_DIALECT_RESIDUAL

include "dialect/ResidBase.td"

def Resid_AddOp : Resid_Op<"add", [AttrSizedOperandSegments]> {
  let summary = "adds a branch to the residual stream";
  let description = [{
    Adds the output of a branch to the residual stream. A gate, factors and a second operand are optional.

    **Formula.** `y = scale ⊙ also + (skip ⊙ x + branch_scale·(gate ⊙ f))`, where `skip` is the value or the attribute
    `skip_scale`.

    **Operands and results.**
    - `x`, the stream: `[…, D]`, of f16, bf16, f32 or f64. Every dimension may be dynamic.
    - `f`, the branch: the type of `x`.
    - `gate`, optional: its shape says what it scales (table below).
    - `skip`, optional: what scales the stream, of a shape that a gate may have. It may be learned.
    - `also(x0 scale l)`, optional: a second operand of the type of `x`, and what scales it, of a shape that a gate may
      have. Without `scale`, the operand is added as it is. It may be the input of a model, which later layers add again
      with a learned factor, or the second of two branches.
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
    - `add.C4`: gate, skip and the scale of `also` are of f64 only where `x` is.
    - `add.C5`: the gate has at most the rank of `x`, and is aligned with it at the last dimension. Each dimension of
      the gate is a static 1, which broadcasts, or agrees with that of `x`. Two sizes agree where they are equal or one
      of them is dynamic. The same holds for skip and the scale of `also`.
    - `add.C6`: both scales are finite in the arithmetic type.
    - `add.C7`: `also` has the type of `x`. Its scale is given only with it.
    - `add.C8`: with `skip`, `skip_scale` is 1.

    **Not allowed.** A dynamic dimension of the gate never broadcasts. If it differs from that of `x` at run time, the
    call is answered with a shape error. `x`, `f` and `also` do not broadcast. Write a narrow branch on a wide stream
    with `arith.extf`.

    **Gradient.** `dx = skip ⊙ dy`, `df = branch_scale·(gate ⊙ dy)` and `dalso = scale ⊙ dy`. `dgate` is
    `branch_scale·(f ⊙ dy)`, summed over the dimensions along which the gate broadcasts. So are `dskip`, of `x ⊙ dy`,
    and `dscale`, of `also ⊙ dy`.

    **Rounding.** The *arithmetic type* is f64 for f64, and f32 otherwise. Operands are widened to it, and the scales
    are rounded to it once. The steps are:
    1. `u = gate·f`, then `u = branch_scale·u`.
    2. `t = x + u`. With `skip`, or a `skip_scale` that is not 1, `t = fma(skip, x, u)`.
    3. With `also`, `t = fma(scale, also, t)`, or without its scale, `t = t + also`.

    Factors that are absent are left out, and so are scales of 1. `t` is rounded once, to the result's type. A gate that
    is a constant 1 folds away. Adding zeros does not fold away, since `-0 + +0` is `+0`.

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
    // Learned factors on the stream and on the model's input.
    func.func @learned(%x: tensor<?x512xf32>, %f: tensor<?x512xf32>, %input: tensor<?x512xf32>,
                       %s: tensor<f32>, %l: tensor<512xf32>) -> tensor<?x512xf32> {
      %y = resid.add %x, %f skip(%s) also(%input scale %l)
          : tensor<?x512xf32>, tensor<f32>, tensor<512xf32>
      return %y : tensor<?x512xf32>
    }
    // Two branches in one add, each with a norm of the result.
    func.func @parallel(%x: tensor<?x512xf32>, %a: tensor<?x512xf32>, %b: tensor<?x512xf32>,
                        %g: tensor<512xf32>, %h: tensor<512xf32>)
        -> (tensor<?x512xf32>, tensor<?x512xf32>) {
      %y = resid.add %x, %a also(%b) : tensor<?x512xf32>
      %n = resid.rms_norm %y gamma(%g) {epsilon = 1.0e-6} : tensor<?x512xf32>, tensor<512xf32>
      %m = resid.rms_norm %y gamma(%h) {epsilon = 1.0e-6} : tensor<?x512xf32>, tensor<512xf32>
      return %n, %m : tensor<?x512xf32>, tensor<?x512xf32>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$x, Resid_Rows:$f, Optional<Resid_Tensor>:$gate, Optional<Resid_Tensor>:$skip,
                       Optional<Resid_Rows>:$also, Optional<Resid_Tensor>:$also_scale, // add.C1
                       DefaultValuedAttr<Resid_F64Attr, "1.0">:$skip_scale,
                       DefaultValuedAttr<Resid_F64Attr, "1.0">:$branch_scale);
  let results = (outs Resid_Rows:$result); // add.C1
  let assemblyFormat = [{
    $x `,` $f (`gate` `(` $gate^ `)`)? (`skip` `(` $skip^ `)`)? (`also` `(` $also^ (`scale` $also_scale^)? `)`)?
    attr-dict `:` custom<AddTypes>(ref($gate), ref($skip), ref($also), ref($also_scale), type($x), type($f),
                                   type($gate), type($skip), type($also), type($also_scale), type($result))
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
