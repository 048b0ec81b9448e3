// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batch norm and its backward op. No kind of norm (NormKinds.td): it goes down the rows, and each row hangs on all
// others.

#ifndef RESID_DIALECT_BATCHNORM
#define RESID_DIALECT_BATCHNORM

include "dialect/EqualSizes.td"
include "dialect/ResidBase.td"

def Resid_BatchNormOp : Resid_Op<"batch_norm", [AttrSizedOperandSegments,
                                 DeclareOpInterfaceMethods<Resid_EqualSizesOpInterface>,
                                 DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "normalises each feature over all rows";
  let description = [{
    Brings each feature to mean 0 and variance 1 over all rows, then applies γ and β. So the result of a row hangs on all
    other rows, while a layer norm goes along the row and looks at no other. With statistics that are handed in, rows are
    independent of each other: the form for inference.

    **Formula.** `y = (x - mean)/sqrt(variance + epsilon)·γ + β`. Where no statistics are handed in, mean and variance
    are taken over the rows, one of each for a feature. The variance is the biased one: the mean of the squared
    differences.

    **Operands and results.**
    - `x`: `[…, D]`, of f16, bf16, f32 or f64. Every dimension may be dynamic.
    - `statistics`, optional: the mean and the variance of each feature, `[D]` each. They are of f64 for f64, and of f32
      otherwise.
    - `gamma`, optional: `[D]`.
    - `beta`, optional: `[D]`.
    - `epsilon`: float attribute, always written.
    - result: the shape of `x`. Its element type may be narrower (`-> tensor<…xbf16>`).
    - `mean`, `variance`, and after them `mean_correction`, `rstd`: the first two, all four or none, and none where
      statistics are handed in. Their types are those of `statistics`. `mean_correction` is what rounding took from the
      mean, as for a layer norm, and `rstd = 1/sqrt(variance + epsilon)`. The backward reads all but the variance.

    Running statistics are the caller's: `running = running + momentum·(mean - running)`. PyTorch updates its running
    variance with `variance·M/(M - 1)`, where M is the number of rows.

    **Constraints.**
    - `batch_norm.C1`: tensors are ranked, of f16, bf16, f32 or f64. Their types have no encoding, and they hold at most
      2^47 bytes.
    - `batch_norm.C2`: `x` has rank 2 or more.
    - `batch_norm.C3`: the result has the shape of `x`, and its element type or a narrower one.
    - `batch_norm.C4`: epsilon is finite and not negative in the arithmetic type. A positive epsilon must not become 0
      there.
    - `batch_norm.C5`: gamma and beta have rank 1, and their size agrees with D. Two sizes agree where they are equal or
      one of them is dynamic. beta is given only with gamma.
    - `batch_norm.C6`: gamma and beta are of f64 only where `x` is.
    - `batch_norm.C7`: there are no statistics or two among the operands, or none, two or four among the results, and
      not in both places. Each has shape `[D]`, and is of f64 if `x` is f64, else of f32.

    **Not allowed.** Features lie along the last dimension only. The layout `[N, C, H, W]` has to be transposed.

    **Gradient.** With `x̂ = (x - mean)·rstd` and M rows, `dx = γ·rstd·(dy - Σdy/M - x̂·Σ(dy·x̂)/M)`, where Σ goes over the
    rows. `dγ = Σ dy·x̂` and `dβ = Σ dy`. With statistics that are handed in, `dx = γ·rstd·dy`; they themselves have no
    gradient. There is none through the statistics as results of the function.

    **Rounding.** The *arithmetic type* is f64 for f64, and f32 otherwise. All steps are computed in it, and each is
    rounded. C(t) is the [sum down the rows](../numerics.md#sums-down-the-rows) of t, rounded, and M is the number of
    rows, rounded.
    1. `k = C(x)/M`. `d = x·s - k`, rounded once, where s is 1 here. `e = C(d)/M` and `q = C(d·d)/M`. The squares are
       rounded before they are added. So k is the mean, rounded, and e is what rounding took from it.
    2. The last steps are done again with `k = C(x·s)/M` where the elements are finite, and k, e or q is not, or epsilon
       is 0 and `q < 2⁻¹⁰⁰`. With `a = C(|x|·t)/M`, s is t times the power of two that brings a into [1, 2). Where k,
       e or q is not finite, t is 2⁻⁶⁴ (f64: 2⁻⁵¹²), else 1.
    3. `var = fma(-e, e, q)` where q is finite and `e² ≤ q/4`, else `C((d - e)·(d - e))/M`.
    4. `rstd = 1/sqrt(var + epsilon·s²)`, once for each feature. If epsilon > 0 and epsilon·s² would be 0, the smallest
       normal number stands in its place. `x̂ = (d - e)·rstd`.
    5. With statistics that are handed in, `rstd = 1/sqrt(variance + epsilon)` and `x̂ = (x - mean)·rstd`.
    6. `y = fma(x̂, γ, β)`, or `x̂·γ` without β, or `x̂` without γ. `y` is rounded once, to the result's type.
    7. `mean = (k + e)/s`, `mean_correction = ((k - (k + e)) + e)/s`, `variance = var/s/s` and `rstd·s` are the results.

    Without rows, statistics are NaN. A NaN or an infinity spoils its own feature only.

    **Example.**
    ```mlir
    func.func @batch_norm(%x: tensor<?x768xf32>, %gamma: tensor<768xf32>, %beta: tensor<768xf32>)
        -> (tensor<?x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<?x768xf32>) {
      %train, %mean, %variance = resid.batch_norm %x gamma(%gamma) beta(%beta) {epsilon = 1.0e-5}
           : tensor<?x768xf32>, tensor<768xf32>, tensor<768xf32>
             -> tensor<?x768xf32>, tensor<768xf32>, tensor<768xf32>
      %infer = resid.batch_norm %x statistics(%mean, %variance) {epsilon = 1.0e-5}
          : tensor<?x768xf32>, tensor<768xf32>
      return %train, %mean, %variance, %infer
          : tensor<?x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<?x768xf32>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$x, Variadic<Resid_Statistics>:$given, // batch_norm.C1
                       Optional<Resid_Tensor>:$gamma, Optional<Resid_Tensor>:$beta, Resid_F64Attr:$epsilon);
  let results = (outs Resid_Rows:$result, Variadic<Resid_Statistics>:$statistics); // batch_norm.C1
  let assemblyFormat = [{
    $x (`statistics` `(` $given^ `)`)? (`gamma` `(` $gamma^ `)`)? (`beta` `(` $beta^ `)`)? attr-dict `:`
    custom<BatchNormTypes>(ref($given), ref($gamma), ref($beta), type($x), type($given), type($gamma), type($beta),
                           type($result), type($statistics))
  }];
  let hasVerifier = 1;
}

def Resid_BatchNormGradOp : Resid_Op<"batch_norm_grad", [AttrSizedOperandSegments,
                                     DeclareOpInterfaceMethods<Resid_EqualSizesOpInterface>,
                                     DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "the gradients of a batch norm";
  let description = [{
    Takes the gradient of a batch norm's result back to what was normalised, to gamma and to beta.

    **Formula.** `dx = γ·rstd·(dy - Σdy/M - x̂·Σ(dy·x̂)/M) + dsum`, `dγ = Σ dy·x̂` and `dβ = Σ dy`. Here
    `x̂ = (x - mean)·rstd`, `rstd = 1/sqrt(variance + epsilon)`, Σ goes over the rows, and M is their number. With
    `fixed_statistics`, `dx = γ·rstd·dy + dsum`.

    **Operands and results.**
    - `dy`: the gradient of the norm's result, with the shape of `x`. Its element type may be narrower.
    - `x`: `[…, D]`, what was normalised. It is of f16, bf16, f32 or f64, and every dimension may be dynamic.
    - `statistics`: `mean`, `mean_correction` and `rstd`, as `resid.batch_norm` gives them, or `mean` and `variance`, as
      it takes them.
    - `gamma`, optional: that of the norm.
    - `sum`, optional: the gradient that `x` has from its other readers, of the type of `x`. It is added to dx.
    - `epsilon`: float attribute, that of the norm.
    - `fixed_statistics`: unit attribute. The norm was handed its statistics: they do not depend on `x`.
    - `dx`: the type of `x`.
    - `dgamma`, `dbeta`: both where there is a gamma, else none. They have its shape, and its element type or another
      that is written after the arrow. A result that nothing reads is not computed.

    **Constraints.**
    - `batch_norm_grad.C1`: tensors are ranked, of f16, bf16, f32 or f64. Their types have no encoding, and they hold at
      most 2^47 bytes.
    - `batch_norm_grad.C2`: `x` has rank 2 or more. `dy` has its shape, and its element type or a narrower one.
    - `batch_norm_grad.C3`: epsilon is finite and not negative in the arithmetic type. A positive epsilon must not
      become 0 there.
    - `batch_norm_grad.C4`: there are two or three statistics. Each has shape `[D]`, and is of f64 if `x` is f64, else of
      f32.
    - `batch_norm_grad.C5`: gamma has rank 1, and its size agrees with D. Two sizes agree where they are equal or one of
      them is dynamic. gamma is of f64 only where `x` is.
    - `batch_norm_grad.C6`: `sum` and `dx` have the type of `x`.
    - `batch_norm_grad.C7`: `dgamma` and `dbeta` are there exactly where gamma is. They have its shape, and are of f64
      only where `x` is.

    **Not allowed.** Statistics that were handed in have no gradient.

    **Gradient.** None. A gradient is not differentiated again.

    **Rounding.** The *arithmetic type* is f64 for f64, and f32 otherwise. All steps are computed in it, and each is
    rounded. C(t) is the [sum down the rows](../numerics.md#sums-down-the-rows) of t, rounded, and M is the number of
    rows, rounded.
    1. `x̂ = ((x - mean) - mean_correction)·rstd`. With mean and variance alone, `rstd = 1/sqrt(variance + epsilon)` and
       `x̂ = (x - mean)·rstd`.
    2. `s1 = C(dy·x̂)` and `s2 = C(dy)`. The products are rounded before they are added. `dγ = s1` and `dβ = s2`, each
       rounded once more where its type is narrower.
    3. `a = γ·rstd`, or `rstd`. `u = fma(-x̂, s1/M, dy - s2/M)`, or `dy` with `fixed_statistics`. `dx = a·u`, or
       `fma(a, u, dsum)`. It is rounded once, to the type of `x`.

    **Example.**
    ```mlir
    func.func @batch_norm_grad(%dy: tensor<?x768xf32>, %x: tensor<?x768xf32>,
                               %mean: tensor<768xf32>, %correction: tensor<768xf32>,
                               %rstd: tensor<768xf32>, %gamma: tensor<768xf32>)
        -> (tensor<?x768xf32>, tensor<768xf32>, tensor<768xf32>) {
      %dx, %dgamma, %dbeta = resid.batch_norm_grad %dy, %x statistics(%mean, %correction, %rstd)
           gamma(%gamma) {epsilon = 1.0e-5}
           : tensor<?x768xf32>, tensor<?x768xf32>, tensor<768xf32>, tensor<768xf32>
      return %dx, %dgamma, %dbeta : tensor<?x768xf32>, tensor<768xf32>, tensor<768xf32>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$dy, Resid_Rows:$x, Variadic<Resid_Statistics>:$statistics, // batch_norm_grad.C1
                       Optional<Resid_Tensor>:$gamma, Optional<Resid_Rows>:$dsum, Resid_F64Attr:$epsilon,
                       UnitAttr:$fixed_statistics);
  let results = (outs Resid_Rows:$dx, Variadic<Resid_Tensor>:$parameters); // batch_norm_grad.C1
  let assemblyFormat = [{
    $dy `,` $x `statistics` `(` $statistics `)` (`gamma` `(` $gamma^ `)`)? (`sum` `(` $dsum^ `)`)? attr-dict `:`
    custom<NormGradTypes>(ref($statistics), ref($gamma), ref($dsum), type($dy), type($x), type($statistics), type($gamma),
                          type($dsum), type($dx), type($parameters))
  }];
  let hasVerifier = 1;
}

#endif
