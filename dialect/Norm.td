// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family Norm: layer norm, RMS norm, dynamic tanh, group norm.

#ifndef RESID_DIALECT_NORM
#define RESID_DIALECT_NORM

include "dialect/NormKinds.td"

def Resid_LayerNormOp : Resid_Op<"layer_norm", [AttrSizedOperandSegments,
                                 DeclareOpInterfaceMethods<Resid_NormOpInterface>,
                                 DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "layer norm over the last dimensions";
  let description = [{
    Brings each row to mean 0 and variance 1, then applies γ and β.

    **Formula.** `y = (x - μ)/sqrt(var + epsilon)·γ + β`, with the mean and the biased variance over the normalised
    dimensions, epsilon inside the root.

    **Operands and results.**
    - `x`: `[…, D]`, f16, bf16, f32 or f64; every dimension may be dynamic.
    - `gamma`, optional: rank k normalises the last k dimensions and has their shape. Without it, `norm_rank` (1 where
      it is not written) says how many.
    - `beta`, optional: the shape of `gamma`.
    - `epsilon`: float attribute, always written; C++ builders default to 1e-5.
    - `zero_centered_gamma` multiplies by 1+γ. `narrow_affine` rounds the normalised value to the result's type before γ
      and β are applied (LLaMA, ONNX).
    - result: the shape of `x`. Its element type may be narrower (`-> tensor<…xbf16>`).
    - `mean`, `mean_correction`, `rstd`, all or none: the shape of `x` without the normalised dimensions, f32, or f64
      for f64. `(x - mean) - mean_correction` is the centred row more exactly than the rounded mean alone gives it.

    **Constraints.**
    - `layer_norm.C1`: tensors are ranked, of f16, bf16, f32 or f64, carry no encoding and hold at most 2^47 bytes; `x`
      and the result have rank 1 or more.
    - `layer_norm.C2`: the result has the shape of `x`, and its element type or a narrower one.
    - `layer_norm.C3`: epsilon is finite and not negative in the arithmetic type, and a non-zero epsilon is not zero
      there.
    - `layer_norm.C4`: between 1 and all dimensions of `x` are normalised.
    - `layer_norm.C5`: beside a gamma, `norm_rank` is not written or is the rank of gamma.
    - `layer_norm.C6`: each dimension of gamma agrees with that of `x`: both equal, or one of them dynamic.
    - `layer_norm.C7`: beta is given only with gamma, has its rank, and agrees with `x` in the same way.
    - `layer_norm.C8`: gamma and beta are of f64 only where `x` is.
    - `layer_norm.C9`: `zero_centered_gamma` and `narrow_affine` are given only with gamma.
    - `layer_norm.C10`: there are no statistics or all three, each of the statistics' type.

    **Not allowed.** Leading or inner dimensions cannot be normalised without the ones behind them.

    **Gradient.** With `x̂ = ((x - mean) - mean_correction)·rstd` and `g = dy·γ`:
    `dx = rstd·(g - mean(g) - x̂·mean(g·x̂))`, `dγ = Σ dy·x̂` and `dβ = Σ dy` over the rows.

    **Rounding.** In the arithmetic type, S being the ordered sum over n elements: `k = S(x)/n`, `d = x - k`,
    `e = S(d)/n`, `q = S(d²)/n` with fma; `var = fma(-e, e, q)` where q is finite and `e² ≤ q/4`, else `S((d-e)²)/n`;
    `rstd = 1/sqrt(var + epsilon)`; `x̂ = (d - e)·rstd`; `y = fma(x̂, γ, β)`, or `x̂·γ`, or `x̂`, rounded once to the
    result's type. `1+γ` is rounded before use. `mean = k + e` rounded, `mean_correction = (k - mean) + e`. A row that
    is finite while k or q is not is done again on a scaled copy. Width 0 gives NaN statistics.

    **Example.**
    ```mlir
    func.func @layer_norm(%x: tensor<?x768xf32>, %gamma: tensor<768xf32>, %beta: tensor<768xf32>)
        -> (tensor<?x768xbf16>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
      %n = resid.layer_norm %x gamma(%gamma) beta(%beta) {epsilon = 1.0e-5}
           : tensor<?x768xf32>, tensor<768xf32>, tensor<768xf32>
      %y, %mean, %corr, %rstd = resid.layer_norm %n gamma(%gamma) {epsilon = 1.0e-5}
           : tensor<?x768xf32>, tensor<768xf32> -> tensor<?x768xbf16>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
      return %y, %mean, %corr, %rstd : tensor<?x768xbf16>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$x, Optional<Resid_Tensor>:$gamma, Optional<Resid_Tensor>:$beta, // layer_norm.C1
                       Resid_F64Attr:$epsilon, DefaultValuedAttr<I64Attr, "1">:$norm_rank,
                       UnitAttr:$zero_centered_gamma, UnitAttr:$narrow_affine);
  // The statistics are all present (mean, mean_correction, rstd) or all absent.
  let results = (outs Resid_Rows:$result, Variadic<Resid_Statistics>:$statistics); // layer_norm.C1
  let assemblyFormat = [{
    $x (`gamma` `(` $gamma^ `)`)? (`beta` `(` $beta^ `)`)? attr-dict `:`
    custom<NormTypes>(ref($gamma), ref($beta), type($x), type($gamma), type($beta), type($result), type($statistics))
  }];
  let builders = [
    // The result has the type of x.
    OpBuilder<(ins "::mlir::Value":$x, CArg<"::mlir::Value", "{}">:$gamma, CArg<"::mlir::Value", "{}">:$beta,
                   CArg<"double", "1.0e-5">:$epsilon, CArg<"bool", "false">:$withStatistics)>];
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// How many trailing dimensions are normalised: gamma's rank, else norm_rank.
    int64_t getNormalizedRank();
    /// The row statistics; null where they were not asked for.
    Value getMean() { return getStatistics().empty() ? Value() : getStatistics()[0]; }
    Value getMeanCorrection() { return getStatistics().empty() ? Value() : getStatistics()[1]; }
    Value getRstd() { return getStatistics().empty() ? Value() : getStatistics()[2]; }
  }];
}

def Resid_RMSNormOp : Resid_Op<"rms_norm", [AttrSizedOperandSegments,
                               DeclareOpInterfaceMethods<Resid_NormOpInterface>,
                               DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "root-mean-square norm over the last dimensions";
  let description = [{
    Brings each row to root mean square 1, then applies γ and, where it is given, β.

    **Formula.** `y = x/sqrt(mean(x²) + epsilon)·γ (+ β)`, the mean over the normalised dimensions.

    **Operands and results.**
    - `x`: `[…, D]`, f16, bf16, f32 or f64; every dimension may be dynamic.
    - `gamma`, optional: rank k normalises the last k dimensions and has their shape. Without it, `norm_rank` (1 where
      it is not written) says how many.
    - `beta`, optional: the shape of `gamma`.
    - `epsilon`: float attribute, always written; C++ builders default to 1e-5.
    - `zero_centered_gamma` multiplies by 1+γ (Gemma). `narrow_affine` rounds the normalised value to the result's type
      before γ and β are applied (LLaMA).
    - result: the shape of `x`. Its element type may be narrower (`-> tensor<…xbf16>`).
    - `rstd`, optional: the shape of `x` without the normalised dimensions, f32, or f64 for f64.

    **Constraints.**
    - `rms_norm.C1`: tensors are ranked, of f16, bf16, f32 or f64, carry no encoding and hold at most 2^47 bytes; `x`
      and the result have rank 1 or more.
    - `rms_norm.C2`: the result has the shape of `x`, and its element type or a narrower one.
    - `rms_norm.C3`: epsilon is finite and not negative in the arithmetic type, and a non-zero epsilon is not zero
      there.
    - `rms_norm.C4`: between 1 and all dimensions of `x` are normalised.
    - `rms_norm.C5`: beside a gamma, `norm_rank` is not written or is the rank of gamma.
    - `rms_norm.C6`: each dimension of gamma agrees with that of `x`: both equal, or one of them dynamic.
    - `rms_norm.C7`: beta is given only with gamma, has its rank, and agrees with `x` in the same way.
    - `rms_norm.C8`: gamma and beta are of f64 only where `x` is.
    - `rms_norm.C9`: `zero_centered_gamma` and `narrow_affine` are given only with gamma.
    - `rms_norm.C10`: there is no statistic or one, of the statistics' type.

    **Not allowed.** Leading or inner dimensions cannot be normalised without the ones behind them.

    **Gradient.** With `x̂ = x·rstd` and `g = dy·γ`: `dx = rstd·(g - x̂·mean(g·x̂))`, `dγ = Σ dy·x̂` and `dβ = Σ dy` over
    the rows.

    **Rounding.** In the arithmetic type, S being the ordered sum over n elements: `q = S(x²)/n` with fma,
    `rstd = 1/sqrt(q + epsilon)`, `x̂ = x·rstd`; `y = fma(x̂, γ, β)`, or `x̂·γ`, or `x̂`, rounded once to the result's
    type. `1+γ` is rounded before use. A row that is finite while q is not is done again on a scaled copy. Width 0 gives
    a NaN statistic.

    **Example.**
    ```mlir
    func.func @rms_norm(%x: tensor<4x16x512xf32>, %gamma: tensor<512xf32>)
        -> (tensor<4x16x512xf32>, tensor<4x16xf32>) {
      %n = resid.rms_norm %x gamma(%gamma) {epsilon = 1.0e-6, zero_centered_gamma}
           : tensor<4x16x512xf32>, tensor<512xf32>
      %y, %rstd = resid.rms_norm %n {epsilon = 1.0e-6} : tensor<4x16x512xf32> -> tensor<4x16x512xf32>, tensor<4x16xf32>
      return %y, %rstd : tensor<4x16x512xf32>, tensor<4x16xf32>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$x, Optional<Resid_Tensor>:$gamma, Optional<Resid_Tensor>:$beta, // rms_norm.C1
                       Resid_F64Attr:$epsilon, DefaultValuedAttr<I64Attr, "1">:$norm_rank,
                       UnitAttr:$zero_centered_gamma, UnitAttr:$narrow_affine);
  // The statistics are one (rstd) or absent.
  let results = (outs Resid_Rows:$result, Variadic<Resid_Statistics>:$statistics); // rms_norm.C1
  let assemblyFormat = [{
    $x (`gamma` `(` $gamma^ `)`)? (`beta` `(` $beta^ `)`)? attr-dict `:`
    custom<NormTypes>(ref($gamma), ref($beta), type($x), type($gamma), type($beta), type($result), type($statistics))
  }];
  let builders = [
    // The result has the type of x.
    OpBuilder<(ins "::mlir::Value":$x, CArg<"::mlir::Value", "{}">:$gamma, CArg<"::mlir::Value", "{}">:$beta,
                   CArg<"double", "1.0e-5">:$epsilon, CArg<"bool", "false">:$withStatistics)>];
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// How many trailing dimensions are normalised: gamma's rank, else norm_rank.
    int64_t getNormalizedRank();
    /// One over the root mean square of each row; null where it was not asked for.
    Value getRstd() { return getStatistics().empty() ? Value() : getStatistics().front(); }
  }];
}

def Resid_DyTOp : Resid_Op<"dyt", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<Resid_NormOpInterface>]> {
  let summary = "dynamic tanh, a norm without statistics";
  let description = [{
    Squashes each element with a scaled tanh in place of a norm, then applies γ and β.

    **Formula.** `y = γ·tanh(α·x) + β`

    **Operands and results.**
    - `x`: `[…, D]`, f16, bf16, f32 or f64; every dimension may be dynamic.
    - `alpha`: `tensor<f32>`, or another of these float types.
    - `gamma`, optional: the shape of the last k dimensions of `x`, k its rank.
    - `beta`, optional: the shape of `gamma`.
    - `zero_centered_gamma` multiplies by 1+γ. `narrow_affine` rounds the tanh to the result's type before γ and β are
      applied.
    - result: the shape of `x`. Its element type may be narrower (`-> tensor<…xbf16>`).

    **Constraints.**
    - `dyt.C1`: tensors are ranked, of f16, bf16, f32 or f64, carry no encoding and hold at most 2^47 bytes; `x` and the
      result have rank 1 or more.
    - `dyt.C2`: the result has the shape of `x`, and its element type or a narrower one.
    - `dyt.C3`: alpha has rank 0.
    - `dyt.C4`: gamma has a rank between 1 and that of `x`.
    - `dyt.C5`: each dimension of gamma agrees with that of `x`: both equal, or one of them dynamic.
    - `dyt.C6`: beta is given only with gamma, has its rank, and agrees with `x` in the same way.
    - `dyt.C7`: alpha, gamma and beta are of f64 only where `x` is.
    - `dyt.C8`: `zero_centered_gamma` and `narrow_affine` are given only with gamma.

    **Not allowed.** There is no epsilon and there are no statistics: nothing is summed over the row.

    **Gradient.** With `t = tanh(α·x)` and `g = dy·γ`: `dx = α·(1 - t²)·g`, `dα = Σ x·(1 - t²)·g` over all elements,
    `dγ = Σ dy·t` and `dβ = Σ dy` over the rows.

    **Rounding.** In the arithmetic type: `t = tanh(α·x)`; `y = fma(t, γ, β)`, or `t·γ`, or `t`, rounded once to the
    result's type. `1+γ` is rounded before use. tanh is a polynomial of resid's own.

    **Example.**
    ```mlir
    func.func @dyt(%x: tensor<?x768xf32>, %alpha: tensor<f32>, %gamma: tensor<768xf32>, %beta: tensor<768xf32>)
        -> tensor<?x768xf32> {
      %y = resid.dyt %x alpha(%alpha) gamma(%gamma) beta(%beta)
           : tensor<?x768xf32>, tensor<f32>, tensor<768xf32>, tensor<768xf32>
      return %y : tensor<?x768xf32>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$x, Resid_Tensor:$alpha, Optional<Resid_Tensor>:$gamma,
                       Optional<Resid_Tensor>:$beta, // dyt.C1
                       UnitAttr:$zero_centered_gamma, UnitAttr:$narrow_affine);
  let results = (outs Resid_Rows:$result); // dyt.C1
  let assemblyFormat = [{
    $x `alpha` `(` $alpha `)` (`gamma` `(` $gamma^ `)`)? (`beta` `(` $beta^ `)`)? attr-dict `:`
    custom<DyTTypes>(ref($gamma), ref($beta), type($x), type($alpha), type($gamma), type($beta), type($result))
  }];
  let builders = [
    // The result has the type of x.
    OpBuilder<(ins "::mlir::Value":$x, "::mlir::Value":$alpha, CArg<"::mlir::Value", "{}">:$gamma,
                   CArg<"::mlir::Value", "{}">:$beta)>];
  let hasVerifier = 1;
}

def Resid_GroupNormOp : Resid_Op<"group_norm", [AttrSizedOperandSegments,
                                 DeclareOpInterfaceMethods<Resid_NormOpInterface>,
                                 DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "layer norm of each group of consecutive features";
  let description = [{
    Splits each row into groups of consecutive features and brings each group to mean 0 and variance 1. Then applies γ
    and β, which have one element per feature.

    **Formula.** `y = (x - μ)/sqrt(var + epsilon)·γ + β`, with the mean and the biased variance over the feature's group
    of `D/groups` features, epsilon inside the root. One group is layer norm. This is PyTorch's `GroupNorm` of `[N, C]`.

    **Operands and results.**
    - `x`: `[…, D]`, f16, bf16, f32 or f64; every dimension may be dynamic.
    - `gamma`, optional: `[D]`. `beta`, optional: `[D]`.
    - `epsilon`: float attribute, always written; C++ builders default to 1e-5.
    - `groups`: how many groups there are; it divides D.
    - `zero_centered_gamma` multiplies by 1+γ. `narrow_affine` rounds the normalised value to the result's type before γ
      and β are applied.
    - result: the shape of `x`. Its element type may be narrower (`-> tensor<…xbf16>`).
    - `mean`, `mean_correction`, `rstd`, all or none: `[…, groups]`, f32, or f64 for f64.
      `(x - mean) - mean_correction` is the centred group more exactly than the rounded mean alone gives it.

    **Constraints.**
    - `group_norm.C1`: tensors are ranked, of f16, bf16, f32 or f64, carry no encoding and hold at most 2^47 bytes; `x`
      and the result have rank 1 or more.
    - `group_norm.C2`: the result has the shape of `x`, and its element type or a narrower one.
    - `group_norm.C3`: epsilon is finite and not negative in the arithmetic type, and a non-zero epsilon is not zero
      there.
    - `group_norm.C4`: `groups` is 1 or more, and divides D. Where D is dynamic, a call with another D is answered
      `RESID_BAD_SHAPE`.
    - `group_norm.C5`: gamma has rank 1, and its size agrees with D.
    - `group_norm.C6`: beta is given only with gamma, has rank 1, and its size agrees with D.
    - `group_norm.C7`: gamma and beta are of f64 only where `x` is.
    - `group_norm.C8`: `zero_centered_gamma` and `narrow_affine` are given only with gamma.
    - `group_norm.C9`: there are no statistics or all three, each of the statistics' type.

    **Not allowed.** Groups lie along the last dimension only; they do not span rows.

    **Gradient.** That of `resid.layer_norm`, with the means taken over the groups.

    **Rounding.** That of `resid.layer_norm` for each group, whose columns are counted from the group's first one. So the
    bits are those of a layer norm of each group by itself.

    **Example.**
    ```mlir
    func.func @group_norm(%x: tensor<?x768xf32>, %gamma: tensor<768xf32>, %beta: tensor<768xf32>)
        -> (tensor<?x768xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
      %n = resid.group_norm %x gamma(%gamma) beta(%beta) {epsilon = 1.0e-5, groups = 8}
           : tensor<?x768xf32>, tensor<768xf32>, tensor<768xf32>
      %y, %mean, %corr, %rstd = resid.group_norm %n {epsilon = 1.0e-5, groups = 8}
           : tensor<?x768xf32> -> tensor<?x768xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
      return %y, %mean, %corr, %rstd : tensor<?x768xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$x, Optional<Resid_Tensor>:$gamma, Optional<Resid_Tensor>:$beta, // group_norm.C1
                       Resid_F64Attr:$epsilon, I64Attr:$groups, UnitAttr:$zero_centered_gamma, UnitAttr:$narrow_affine);
  // The statistics are all present (mean, mean_correction, rstd) or all absent.
  let results = (outs Resid_Rows:$result, Variadic<Resid_Statistics>:$statistics); // group_norm.C1
  let assemblyFormat = [{
    $x (`gamma` `(` $gamma^ `)`)? (`beta` `(` $beta^ `)`)? attr-dict `:`
    custom<NormTypes>(ref($gamma), ref($beta), type($x), type($gamma), type($beta), type($result), type($statistics))
  }];
  let builders = [
    // The result has the type of x.
    OpBuilder<(ins "::mlir::Value":$x, "int64_t":$groups, CArg<"::mlir::Value", "{}">:$gamma,
                   CArg<"::mlir::Value", "{}">:$beta, CArg<"double", "1.0e-5">:$epsilon)>];
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
}

#endif
