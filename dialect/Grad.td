// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family Grad: the backward ops, of those ops whose adjoint is no op already. Differentiation makes them; what it does
// is passes/grad's.

#ifndef RESID_DIALECT_GRAD
#define RESID_DIALECT_GRAD

include "dialect/EqualSizes.td"
include "dialect/ResidBase.td"

// The statistics are what the norm says of its rows. The parameters are dgamma and dbeta, exactly where gamma is.
class Resid_NormGradOp<string mnemonic>
    : Resid_Op<mnemonic, [AttrSizedOperandSegments, DeclareOpInterfaceMethods<Resid_EqualSizesOpInterface>,
                          DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  // layer_norm_grad.C1, rms_norm_grad.C1
  let arguments = (ins Resid_Rows:$dy, Resid_Rows:$x, Variadic<Resid_Statistics>:$statistics,
                       Optional<Resid_Tensor>:$gamma, Optional<Resid_Rows>:$dsum,
                       OptionalAttr<Resid_I64Attr>:$norm_rank, UnitAttr:$zero_centered_gamma);
  let results = (outs Resid_Rows:$dx, Variadic<Resid_Tensor>:$parameters);
  let assemblyFormat = [{
    $dy `,` $x `statistics` `(` $statistics `)` (`gamma` `(` $gamma^ `)`)? (`sum` `(` $dsum^ `)`)? attr-dict `:`
    custom<NormGradTypes>(ref($statistics), ref($gamma), ref($dsum), type($dy), type($x), type($statistics), type($gamma),
                          type($dsum), type($dx), type($parameters))
  }];
  let hasVerifier = 1;
}

def Resid_LayerNormGradOp : Resid_NormGradOp<"layer_norm_grad"> {
  let summary = "the gradients of a layer norm";
  let description = [{
    Takes the gradient of a layer norm's result back to what was normalised, to gamma and to beta.

    **Formula.** `dx = rstd·(g - avg(g) - x̂·avg(g·x̂)) + dsum`, `dγ = Σ dy·x̂` and `dβ = Σ dy`. Here
    `x̂ = ((x - mean) - mean_correction)·rstd`. `g` is `dy·γ`, or `dy·(1+γ)` where γ is zero-centred, or `dy` without γ.
    avg is the mean over the normalised elements, and Σ goes over the rows.

    **Operands and results.**
    - `dy`: the gradient of the norm's result, with the shape of `x`. Its element type may be narrower.
    - `x`: `[…, D]`, what was normalised. It is of f16, bf16, f32 or f64, and every dimension may be dynamic.
    - `statistics`: `mean`, `mean_correction` and `rstd`, as `resid.layer_norm` gives them.
    - `gamma`, optional: that of the norm. Without gamma, the attribute `norm_rank` says how many dimensions are
      normalised, by default 1.
    - `sum`, optional: the gradient that `x` has from its other readers, of the type of `x`. It is added to dx.
    - `zero_centered_gamma`: unit attribute, as in the norm.
    - `dx`: the type of `x`.
    - `dgamma`, `dbeta`: both where there is a gamma, else none. They have its shape, and its element type or another
      that is written after the arrow. A result that nothing reads is not computed.

    **Constraints.**
    - `layer_norm_grad.C1`: tensors are ranked, of f16, bf16, f32 or f64. Their types have no encoding, and they hold at
      most 2^47 bytes. `dy`, `x` and `dx` have rank 1 or more.
    - `layer_norm_grad.C2`: `dy` has the shape of `x`, and its element type or a narrower one.
    - `layer_norm_grad.C3`: at least 1 dimension of `x` is normalised, and at most all are. `norm_rank` may be left out.
      Written beside a gamma, it must equal the rank of gamma.
    - `layer_norm_grad.C4`: there are three statistics. They have the shape of `x` without the normalised dimensions,
      and are of f64 if `x` is f64, else of f32.
    - `layer_norm_grad.C5`: the dimensions of gamma agree with the last ones of `x`, in order. Two sizes agree where
      they are equal or one of them is dynamic. gamma is of f64 only where `x` is.
    - `layer_norm_grad.C6`: `sum` and `dx` have the type of `x`.
    - `layer_norm_grad.C7`: `dgamma` and `dbeta` are there exactly where gamma is. They have its shape, and are of f64
      only where `x` is.
    - `layer_norm_grad.C8`: `zero_centered_gamma` is given only with gamma.

    **Not allowed.** epsilon is not among the operands: it is in `rstd`.

    **Gradient.** None. A gradient is not differentiated again.

    **Rounding.** The *arithmetic type* is f64 for f64, and f32 otherwise. All steps are computed in it, and each is
    rounded. n is the number of normalised elements, and S is the ordered sum that
    [numerics](../numerics.md#the-ordered-sum-s) defines.
    1. `x̂ = ((x - mean) - mean_correction)·rstd`. `γ' = γ`, or `1 + γ` rounded. `g = dy·γ'`, or `dy`.
    2. `c1 = S(g·x̂)/n` and `c2 = S(g)/n`. The products are rounded before they are added.
    3. `u = fma(-x̂, c1, g - c2)`. `dx = rstd·u`, or `fma(rstd, u, dsum)`. It is rounded once, to the type of `x`.
    4. `dγ` is the [sum down the rows](../numerics.md#sums-down-the-rows) of `dy·x̂`, and `dβ` that of `dy`. They are
       rounded to f32 (f64 for f64), and then to the type of the result.

    **Example.**
    ```mlir
    func.func @layer_norm_grad(%dy: tensor<?x768xbf16>, %x: tensor<?x768xf32>, %mean: tensor<?xf32>,
                               %corr: tensor<?xf32>, %rstd: tensor<?xf32>, %gamma: tensor<768xf32>,
                               %dsum: tensor<?x768xf32>)
        -> (tensor<?x768xf32>, tensor<768xf32>, tensor<768xbf16>) {
      %dx, %dgamma, %dbeta = resid.layer_norm_grad %dy, %x statistics(%mean, %corr, %rstd)
           gamma(%gamma) sum(%dsum)
           : tensor<?x768xbf16>, tensor<?x768xf32>, tensor<?xf32>, tensor<768xf32>
           -> tensor<?x768xf32>, tensor<768xf32>, tensor<768xbf16>
      return %dx, %dgamma, %dbeta : tensor<?x768xf32>, tensor<768xf32>, tensor<768xbf16>
    }
    ```
  }];
}

def Resid_RMSNormGradOp : Resid_NormGradOp<"rms_norm_grad"> {
  let summary = "the gradients of a root-mean-square norm";
  let description = [{
    Takes the gradient of an RMS norm's result back to what was normalised, to gamma and to beta.

    **Formula.** `dx = rstd·(g - x̂·avg(g·x̂)) + dsum`, `dγ = Σ dy·x̂` and `dβ = Σ dy`. Here `x̂ = x·rstd`. `g` is `dy·γ`,
    or `dy·(1+γ)` where γ is zero-centred, or `dy` without γ. avg is the mean over the normalised elements, and Σ goes
    over the rows.

    **Operands and results.**
    - `dy`: the gradient of the norm's result, with the shape of `x`. Its element type may be narrower.
    - `x`: `[…, D]`, what was normalised. It is of f16, bf16, f32 or f64, and every dimension may be dynamic.
    - `statistics`: `rstd`, as `resid.rms_norm` gives it.
    - `gamma`, optional: that of the norm.
    - `norm_rank`: that of the norm: how many dimensions are normalised, by default as many as gamma has, or 1.
    - `sum`, optional: the gradient that `x` has from its other readers, of the type of `x`. It is added to dx.
    - `zero_centered_gamma`: unit attribute, as in the norm.
    - `dx`: the type of `x`.
    - `dgamma`, `dbeta`: both where there is a gamma, else none. They have its shape, and its element type or another
      that is written after the arrow. A result that nothing reads is not computed.

    **Constraints.**
    - `rms_norm_grad.C1`: tensors are ranked, of f16, bf16, f32 or f64. Their types have no encoding, and they hold at
      most 2^47 bytes. `dy`, `x` and `dx` have rank 1 or more.
    - `rms_norm_grad.C2`: `dy` has the shape of `x`, and its element type or a narrower one.
    - `rms_norm_grad.C3`: at least 1 dimension of `x` is normalised, and at most all are. `norm_rank` is at most the
      rank of gamma.
    - `rms_norm_grad.C4`: there is one statistic. It has the shape of `x` without the normalised dimensions, and is of
      f64 if `x` is f64, else of f32.
    - `rms_norm_grad.C5`: the dimensions of gamma agree with the last ones of `x`, in order. Two sizes agree where they
      are equal or one of them is dynamic. gamma is of f64 only where `x` is.
    - `rms_norm_grad.C6`: `sum` and `dx` have the type of `x`.
    - `rms_norm_grad.C7`: `dgamma` and `dbeta` are there exactly where gamma is. They have its shape, and are of f64
      only where `x` is.
    - `rms_norm_grad.C8`: `zero_centered_gamma` is given only with gamma.

    **Not allowed.** epsilon is not among the operands: it is in `rstd`.

    **Gradient.** None. A gradient is not differentiated again.

    **Rounding.** As in `resid.layer_norm_grad`, with these steps:
    1. `x̂ = x·rstd`. `γ' = γ`, or `1 + γ` rounded. `g = dy·γ'`, or `dy`.
    2. `c1 = S(g·x̂)/n`. The products are rounded before they are added.
    3. `u = fma(-x̂, c1, g)`. `dx = rstd·u`, or `fma(rstd, u, dsum)`. It is rounded once, to the type of `x`.
    4. `dγ` is the [sum down the rows](../numerics.md#sums-down-the-rows) of `dy·x̂`, and `dβ` that of `dy`. They are
       rounded to f32 (f64 for f64), and then to the type of the result.

    **Example.**
    ```mlir
    func.func @rms_norm_grad(%dy: tensor<?x768xf32>, %x: tensor<?x768xf32>, %rstd: tensor<?xf32>,
                             %gamma: tensor<768xf32>) -> (tensor<?x768xf32>, tensor<768xf32>) {
      %dx, %dgamma, %dbeta = resid.rms_norm_grad %dy, %x statistics(%rstd) gamma(%gamma)
           : tensor<?x768xf32>, tensor<?x768xf32>, tensor<?xf32>, tensor<768xf32>
      return %dx, %dgamma : tensor<?x768xf32>, tensor<768xf32>
    }
    ```
  }];
}

def Resid_L2NormGradOp : Resid_Op<"l2_norm_grad", [AttrSizedOperandSegments,
                                  DeclareOpInterfaceMethods<Resid_EqualSizesOpInterface>,
                                  DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "the gradients of an L2 norm";
  let description = [{
    Takes the gradient of an L2 norm's result back to what was normalised, to gamma and to beta.

    **Formula.** `dx = rstd·(g - x̂·Σ(g·x̂)) + dsum`, where the sum goes over the normalised elements. In a row that is
    shorter than epsilon, `dx = rstd·g + dsum`. `dγ = Σ dy·x̂` and `dβ = Σ dy`, over the rows. Here `x̂ = x·rstd`. `g` is
    `dy·γ`, or `dy·(1+γ)` where γ is zero-centred, or `dy` without γ.

    **Operands and results.**
    - `dy`: the gradient of the norm's result, with the shape of `x`. Its element type may be narrower.
    - `x`: `[…, D]`, what was normalised. It is of f16, bf16, f32 or f64, and every dimension may be dynamic.
    - `statistics`: `rstd`, as `resid.l2_norm` gives it.
    - `gamma`, optional: that of the norm.
    - `epsilon`, `norm_rank`, `zero_centered_gamma`: those of the norm.
    - `sum`, optional: the gradient that `x` has from its other readers, of the type of `x`. It is added to dx.
    - `dx`: the type of `x`.
    - `dgamma`, `dbeta`: both where there is a gamma, else none. They have its shape, and its element type or another
      that is written after the arrow. A result that nothing reads is not computed.

    **Constraints.**
    - `l2_norm_grad.C1`: tensors are ranked, of f16, bf16, f32 or f64. Their types have no encoding, and they hold at
      most 2^47 bytes. `dy`, `x` and `dx` have rank 1 or more.
    - `l2_norm_grad.C2`: `dy` has the shape of `x`, and its element type or a narrower one.
    - `l2_norm_grad.C3`: at least 1 dimension of `x` is normalised, and at most all are. `norm_rank` is at most the rank
      of gamma.
    - `l2_norm_grad.C4`: there is one statistic. It has the shape of `x` without the normalised dimensions, and is of f64
      if `x` is f64, else of f32.
    - `l2_norm_grad.C5`: the dimensions of gamma agree with the last ones of `x`, in order. Two sizes agree where they
      are equal or one of them is dynamic. gamma is of f64 only where `x` is.
    - `l2_norm_grad.C6`: `sum` and `dx` have the type of `x`.
    - `l2_norm_grad.C7`: `dgamma` and `dbeta` are there exactly where gamma is. They have its shape, and are of f64 only
      where `x` is.
    - `l2_norm_grad.C8`: `zero_centered_gamma` is given only with gamma.
    - `l2_norm_grad.C9`: epsilon holds to `l2_norm.C3`.

    **Gradient.** None. A gradient is not differentiated again.

    **Rounding.** As in `resid.layer_norm_grad`, with these steps:
    1. `x̂ = x·rstd`. `γ' = γ`, or `1 + γ` rounded. `g = dy·γ'`, or `dy`.
    2. `c = S(g·x̂)`, of products that are rounded before they are added. Where `rstd` is not below `1/epsilon`, rounded,
       the row is no longer than epsilon, and c is +0.
    3. `u = fma(-x̂, c, g)`. `dx = rstd·u`, or `fma(rstd, u, dsum)`. It is rounded once, to the type of `x`.
    4. `dγ` is the [sum down the rows](../numerics.md#sums-down-the-rows) of `dy·x̂`, and `dβ` that of `dy`. They are
       rounded to f32 (f64 for f64), and then to the type of the result.

    **Example.**
    ```mlir
    func.func @l2_norm_grad(%dy: tensor<?x64xf32>, %x: tensor<?x64xf32>, %rstd: tensor<?xf32>,
                            %gamma: tensor<64xf32>) -> (tensor<?x64xf32>, tensor<64xf32>) {
      %dx, %dgamma, %dbeta = resid.l2_norm_grad %dy, %x statistics(%rstd) gamma(%gamma)
           {epsilon = 1.0e-12} : tensor<?x64xf32>, tensor<?x64xf32>, tensor<?xf32>, tensor<64xf32>
      return %dx, %dgamma : tensor<?x64xf32>, tensor<64xf32>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$dy, Resid_Rows:$x, Variadic<Resid_Statistics>:$statistics, // l2_norm_grad.C1
                       Optional<Resid_Tensor>:$gamma, Optional<Resid_Rows>:$dsum, Resid_F64Attr:$epsilon,
                       OptionalAttr<Resid_I64Attr>:$norm_rank, UnitAttr:$zero_centered_gamma);
  let results = (outs Resid_Rows:$dx, Variadic<Resid_Tensor>:$parameters); // l2_norm_grad.C1
  let assemblyFormat = [{
    $dy `,` $x `statistics` `(` $statistics `)` (`gamma` `(` $gamma^ `)`)? (`sum` `(` $dsum^ `)`)? attr-dict `:`
    custom<NormGradTypes>(ref($statistics), ref($gamma), ref($dsum), type($dy), type($x), type($statistics), type($gamma),
                          type($dsum), type($dx), type($parameters))
  }];
  let hasVerifier = 1;
}

def Resid_GroupNormGradOp : Resid_Op<"group_norm_grad", [AttrSizedOperandSegments,
                                     DeclareOpInterfaceMethods<Resid_EqualSizesOpInterface>,
                                     DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "the gradients of a group norm";
  let description = [{
    Takes the gradient of a group norm's result back to what was normalised, to gamma and to beta.

    **Formula.** That of `resid.layer_norm_grad`, where avg is the mean over the group of a feature. `dγ` and `dβ` have
    one element per feature, and Σ goes over the rows.

    **Operands and results.**
    - `dy`: the gradient of the norm's result, with the shape of `x`. Its element type may be narrower.
    - `x`: `[…, D]`, what was normalised. It is of f16, bf16, f32 or f64, and every dimension may be dynamic.
    - `statistics`: `mean`, `mean_correction` and `rstd`, as `resid.group_norm` gives them: `[…, groups]`.
    - `gamma`, optional: that of the norm, `[D]`.
    - `sum`, optional: the gradient that `x` has from its other readers, of the type of `x`. It is added to dx.
    - `groups`: how many groups there are. It divides D.
    - `zero_centered_gamma`: unit attribute, as in the norm.
    - `dx`: the type of `x`.
    - `dgamma`, `dbeta`: both where there is a gamma, else none. They have its shape, and its element type or another
      that is written after the arrow. A result that nothing reads is not computed.

    **Constraints.**
    - `group_norm_grad.C1`: tensors are ranked, of f16, bf16, f32 or f64. Their types have no encoding, and they hold at
      most 2^47 bytes. `dy`, `x` and `dx` have rank 1 or more.
    - `group_norm_grad.C2`: `dy` has the shape of `x`, and its element type or a narrower one.
    - `group_norm_grad.C3`: `groups` is 1 or more, and divides D. Where D is dynamic, a call with a D that it does not
      divide is answered `RESID_BAD_SHAPE`.
    - `group_norm_grad.C4`: there are three statistics. They have the shape of `x` with `groups` in place of D, and are
      of f64 if `x` is f64, else of f32.
    - `group_norm_grad.C5`: gamma has rank 1, and its size agrees with D. Two sizes agree where they are equal or one of
      them is dynamic. gamma is of f64 only where `x` is.
    - `group_norm_grad.C6`: `sum` and `dx` have the type of `x`.
    - `group_norm_grad.C7`: `dgamma` and `dbeta` are there exactly where gamma is. They have its shape, and are of f64
      only where `x` is.
    - `group_norm_grad.C8`: `zero_centered_gamma` is given only with gamma.

    **Not allowed.** epsilon is not among the operands: it is in `rstd`.

    **Gradient.** None. A gradient is not differentiated again.

    **Rounding.** Each group has the bits of a `resid.layer_norm_grad` of that group alone. Columns are counted from the
    group's first one.

    **Example.**
    ```mlir
    func.func @group_norm_grad(%dy: tensor<?x768xf32>, %x: tensor<?x768xf32>,
                               %mean: tensor<?x8xf32>, %corr: tensor<?x8xf32>,
                               %rstd: tensor<?x8xf32>, %gamma: tensor<768xf32>)
        -> (tensor<?x768xf32>, tensor<768xf32>, tensor<768xf32>) {
      %dx, %dgamma, %dbeta = resid.group_norm_grad %dy, %x statistics(%mean, %corr, %rstd)
           gamma(%gamma) {groups = 8}
           : tensor<?x768xf32>, tensor<?x768xf32>, tensor<?x8xf32>, tensor<768xf32>
      return %dx, %dgamma, %dbeta : tensor<?x768xf32>, tensor<768xf32>, tensor<768xf32>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$dy, Resid_Rows:$x, Variadic<Resid_Statistics>:$statistics, // group_norm_grad.C1
                       Optional<Resid_Tensor>:$gamma, Optional<Resid_Rows>:$dsum, Resid_I64Attr:$groups,
                       UnitAttr:$zero_centered_gamma);
  let results = (outs Resid_Rows:$dx, Variadic<Resid_Tensor>:$parameters); // group_norm_grad.C1
  let assemblyFormat = [{
    $dy `,` $x `statistics` `(` $statistics `)` (`gamma` `(` $gamma^ `)`)? (`sum` `(` $dsum^ `)`)? attr-dict `:`
    custom<NormGradTypes>(ref($statistics), ref($gamma), ref($dsum), type($dy), type($x), type($statistics), type($gamma),
                          type($dsum), type($dx), type($parameters))
  }];
  let hasVerifier = 1;
}

#endif
