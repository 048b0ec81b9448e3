// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family Norm: layer norm, RMS norm, L2 norm, dynamic tanh, group norm.

#ifndef RESID_DIALECT_NORM
#define RESID_DIALECT_NORM

include "dialect/NormKinds.td"
include "dialect/QuantizedResult.td"

def Resid_LayerNormOp : Resid_Op<"layer_norm", [AttrSizedOperandSegments,
                                 DeclareOpInterfaceMethods<Resid_NormOpInterface>,
                                 DeclareOpInterfaceMethods<Resid_QuantizedResultOpInterface, ["getUnquantizedTypes"]>,
                                 DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "layer norm over the last dimensions";
  let description = [{
    Brings each row to mean 0 and variance 1, then applies γ and β.

    **Formula.** `y = (x - μ)/sqrt(var + epsilon)·γ + β`. The mean μ and the variance var are taken over the normalised
    dimensions. The variance is the biased one: the mean of the squared differences.

    **Operands and results.**
    - `x`: `[…, D]`, of f16, bf16, f32 or f64. Every dimension may be dynamic.
    - `gamma`, optional: a gamma of rank k normalises the last k dimensions and has their shape. Without gamma, the
      attribute `norm_rank` says how many dimensions are normalised, by default 1.
    - `beta`, optional: the shape of `gamma`.
    - `epsilon`: float attribute, always written. C++ builders default to 1e-5.
    - `zero_centered_gamma`: unit attribute. Multiplies by 1+γ instead of γ.
    - `narrow_affine`: unit attribute. Rounds the normalised value to the result's type before γ and β are applied
      (LLaMA, ONNX).
    - result: the shape of `x`. Its element type may be narrower (`-> tensor<…xbf16>`), or i8
      (`-> tensor<…xi8>, tensor<…xf32>`). With i8, the op is the norm with a result of the type of `x`, and then
      [`resid.quantize`](quantize.md). The scale is the second result, unless it is an operand.
    - `quantize(row)`, `quantize(tensor)` or `quantize(group G)`, optional: what shares a scale, by default a row. A scale
      that was found before is an operand: `quantize(tensor scale %s : tensor<f32>)`.
    - `mean`, `mean_correction`, `rstd`: all three or none. They have the shape of `x` without the normalised
      dimensions. Their type is f64 for f64, and f32 otherwise. `rstd` is `1/sqrt(var + epsilon)`.

    `mean_correction` is what rounding took from `mean`. In rows with a large mean, `(x - mean) - mean_correction` is
    therefore more exact than `x - mean`.

    **Constraints.**
    - `layer_norm.C1`: tensors are ranked, of f16, bf16, f32 or f64. Their types have no encoding, and they hold at most
      2^47 bytes. `x` and the result have rank 1 or more.
    - `layer_norm.C2`: the result has the shape of `x`, and its element type, a narrower one, or i8.
    - `layer_norm.C3`: epsilon is finite and not negative in the arithmetic type. A positive epsilon must not become 0
      there.
    - `layer_norm.C4`: at least 1 dimension of `x` is normalised, and at most all are.
    - `layer_norm.C5`: `norm_rank` may be left out. Written beside a gamma, it must equal the rank of gamma.
    - `layer_norm.C6`: the dimensions of gamma agree with the last ones of `x`, in order. Two sizes agree where they are equal or one of
      them is dynamic.
    - `layer_norm.C7`: beta is given only with gamma. It has the rank of gamma, and its dimensions agree with those of
      `x` too.
    - `layer_norm.C8`: gamma and beta are of f64 only where `x` is.
    - `layer_norm.C9`: `zero_centered_gamma` and `narrow_affine` are given only with gamma.
    - `layer_norm.C10`: `mean`, `mean_correction` and `rstd`, the *statistics*, are given all three or not at all. Their
      type is f64 if `x` is f64, else f32.
    - `layer_norm.C11`: with a result of i8, `x` is of f16, bf16 or f32, and the types of the results are those of
      `resid.quantize`, so that there are no statistics. Granularity and scale hold to `quantize.C2` and `quantize.C3`.
      The clause `quantize` is written with such a result only.

    **Not allowed.** The normalised dimensions are always the last ones. A dimension cannot be normalised without all
    dimensions after it.

    **Gradient.** Let `x̂ = ((x - mean) - mean_correction)·rstd`. `g` is `dy·γ`, or `dy·(1+γ)` where γ is zero-centred, or
    `dy` without γ. avg is the mean over the normalised elements. Then `dx = rstd·(g - avg(g) - x̂·avg(g·x̂))`.
    `dγ = Σ dy·x̂` and `dβ = Σ dy`, summed over the rows. A result of i8 has none, as in `resid.quantize`.

    **Rounding.** The *arithmetic type* is f64 for f64, and f32 otherwise. All steps are computed in it. n is the number
    of normalised elements, and S is the ordered sum that [numerics](../numerics.md#the-ordered-sum-s) defines.
    1. `k = S(x)/n`, `d = x - k`, `e = S(d)/n`, `q = S(d²)/n`. The squares are added with fma.
    2. `var = fma(-e, e, q)` where q is finite and `e² ≤ q/4`. Otherwise `var = S((d-e)²)/n`.
    3. `rstd = 1/sqrt(var + epsilon)` and `x̂ = (d - e)·rstd`.
    4. `y = fma(x̂, γ, β)`, or `x̂·γ` without β, or `x̂` without γ. `y` is rounded once, to the result's type; with
       `narrow_affine`, x̂ is rounded to that type before. A
       zero-centred `1+γ` is rounded before it is used.
    5. `mean = k + e`, rounded, and `mean_correction = (k - mean) + e`.
    6. If every element is finite, but k or q is not, the row is done again on a
       [scaled copy](../numerics.md#formulas). If n is 0, the statistics are NaN.

    **Example.**
    ```mlir
    func.func @layer_norm(%x: tensor<?x768xf32>, %gamma: tensor<768xf32>, %beta: tensor<768xf32>)
        -> (tensor<?x768xbf16>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
      %n = resid.layer_norm %x gamma(%gamma) beta(%beta) {epsilon = 1.0e-5}
           : tensor<?x768xf32>, tensor<768xf32>, tensor<768xf32>
      %y, %mean, %corr, %rstd = resid.layer_norm %n gamma(%gamma) {epsilon = 1.0e-5}
           : tensor<?x768xf32>, tensor<768xf32>
             -> tensor<?x768xbf16>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
      return %y, %mean, %corr, %rstd
          : tensor<?x768xbf16>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$x, Optional<Resid_Tensor>:$gamma, Optional<Resid_Tensor>:$beta,
                       Optional<Resid_Scales>:$static_scale, // layer_norm.C1
                       Resid_F64Attr:$epsilon, DefaultValuedAttr<Resid_I64Attr, "1">:$norm_rank,
                       UnitAttr:$zero_centered_gamma, UnitAttr:$narrow_affine,
                       OptionalAttr<Resid_GranularityAttr>:$granularity, OptionalAttr<Resid_I64Attr>:$group);
  // The statistics are all present (mean, mean_correction, rstd) or all absent.
  let results = (outs Resid_FloatsOrBytes:$result, Variadic<Resid_Statistics>:$statistics); // layer_norm.C1
  let assemblyFormat = [{
    $x (`gamma` `(` $gamma^ `)`)? (`beta` `(` $beta^ `)`)?
    (`quantize` `(` custom<Quantization>($granularity, $group, $static_scale, type($static_scale))^ `)`)? attr-dict `:`
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
                               DeclareOpInterfaceMethods<Resid_QuantizedResultOpInterface, ["getUnquantizedTypes"]>,
                               DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "root-mean-square norm over the last dimensions";
  let description = [{
    Brings each row to root mean square 1, then applies γ and, where it is given, β.

    **Formula.** `y = x/sqrt(mean(x²) + epsilon)·γ + β`. The mean is taken over the normalised dimensions.

    **Operands and results.**
    - `x`: `[…, D]`, of f16, bf16, f32 or f64. Every dimension may be dynamic.
    - `gamma`, optional: it has the last dimensions of `x`. A gamma of rank k normalises the last k, unless `norm_rank`
      says fewer.
    - `norm_rank`: how many dimensions are normalised, by default as many as gamma has, or 1 without gamma. With
      `norm_rank = 1` and a gamma `[n, D]`, each of n streams is normalised by itself and has a γ of its own.
    - `beta`, optional: the shape of `gamma`.
    - `epsilon`: float attribute, always written. C++ builders default to 1e-5.
    - `zero_centered_gamma`: unit attribute. Multiplies by 1+γ instead of γ (Gemma).
    - `narrow_affine`: unit attribute. Rounds the normalised value to the result's type before γ and β are applied
      (LLaMA).
    - result: the shape of `x`. Its element type may be narrower (`-> tensor<…xbf16>`), or i8
      (`-> tensor<…xi8>, tensor<…xf32>`). With i8, the op is the norm with a result of the type of `x`, and then
      [`resid.quantize`](quantize.md). The scale is the second result, unless it is an operand.
    - `quantize(row)`, `quantize(tensor)` or `quantize(group G)`, optional: what shares a scale, by default a row. A scale
      that was found before is an operand: `quantize(tensor scale %s : tensor<f32>)`.
    - `rstd`, optional: `1/sqrt(mean(x²) + epsilon)`. It has the shape of `x` without the normalised dimensions. Its
      type is f64 for f64, and f32 otherwise.

    **Constraints.**
    - `rms_norm.C1`: tensors are ranked, of f16, bf16, f32 or f64. Their types have no encoding, and they hold at most
      2^47 bytes. `x` and the result have rank 1 or more.
    - `rms_norm.C2`: the result has the shape of `x`, and its element type, a narrower one, or i8.
    - `rms_norm.C3`: epsilon is finite and not negative in the arithmetic type. A positive epsilon must not become 0
      there.
    - `rms_norm.C4`: at least 1 dimension of `x` is normalised, and at most all are.
    - `rms_norm.C5`: `norm_rank` is at most the rank of gamma.
    - `rms_norm.C6`: the dimensions of gamma agree with the last ones of `x`, in order. Two sizes agree where they are equal or one of
      them is dynamic.
    - `rms_norm.C7`: beta is given only with gamma. It has the rank of gamma, and its dimensions agree with those of `x`
      too.
    - `rms_norm.C8`: gamma and beta are of f64 only where `x` is.
    - `rms_norm.C9`: `zero_centered_gamma` and `narrow_affine` are given only with gamma.
    - `rms_norm.C10`: there is no statistic or one. It is of f64 for f64, and of f32 otherwise.
    - `rms_norm.C11`: with a result of i8, `x` is of f16, bf16 or f32, and the types of the results are those of
      `resid.quantize`, so that there are no statistics. Granularity and scale hold to `quantize.C2` and `quantize.C3`.
      The clause `quantize` is written with such a result only.

    **Not allowed.** The normalised dimensions are always the last ones. A dimension cannot be normalised without all
    dimensions after it.

    **Gradient.** Let `x̂ = x·rstd`, and `g` and avg as in `resid.layer_norm`. Then `dx = rstd·(g - x̂·avg(g·x̂))`.
    `dγ = Σ dy·x̂` and `dβ = Σ dy`, summed over the rows. A result of i8 has none, as in `resid.quantize`.

    **Rounding.** The *arithmetic type* is f64 for f64, and f32 otherwise. All steps are computed in it. n is the number
    of normalised elements, and S is the ordered sum that [numerics](../numerics.md#the-ordered-sum-s) defines.
    1. `q = S(x²)/n`. The squares are added with fma.
    2. `rstd = 1/sqrt(q + epsilon)` and `x̂ = x·rstd`.
    3. `y = fma(x̂, γ, β)`, or `x̂·γ` without β, or `x̂` without γ. `y` is rounded once, to the result's type; with
       `narrow_affine`, x̂ is rounded to that type before. A
       zero-centred `1+γ` is rounded before it is used.
    4. If q is not finite although the row is, the row is done again on a [scaled copy](../numerics.md#formulas). Width
       0 gives a NaN statistic.

    **Example.**
    ```mlir
    func.func @rms_norm(%x: tensor<4x16x512xf32>, %gamma: tensor<512xf32>)
        -> (tensor<4x16x512xf32>, tensor<4x16xf32>) {
      %n = resid.rms_norm %x gamma(%gamma) {epsilon = 1.0e-6, zero_centered_gamma}
           : tensor<4x16x512xf32>, tensor<512xf32>
      %y, %rstd = resid.rms_norm %n {epsilon = 1.0e-6}
          : tensor<4x16x512xf32> -> tensor<4x16x512xf32>, tensor<4x16xf32>
      return %y, %rstd : tensor<4x16x512xf32>, tensor<4x16xf32>
    }
    func.func @quantized(%x: tensor<?x512xf32>, %gamma: tensor<512xf32>)
        -> (tensor<?x512xi8>, tensor<?xf32>) {
      %q, %scale = resid.rms_norm %x gamma(%gamma) {epsilon = 1.0e-6}
          : tensor<?x512xf32>, tensor<512xf32> -> tensor<?x512xi8>, tensor<?xf32>
      return %q, %scale : tensor<?x512xi8>, tensor<?xf32>
    }
    func.func @norm_of_streams(%x: tensor<?x4x512xf32>, %gamma: tensor<4x512xf32>)
        -> tensor<?x4x512xf32> {
      %y = resid.rms_norm %x gamma(%gamma) {epsilon = 1.0e-6, norm_rank = 1}
           : tensor<?x4x512xf32>, tensor<4x512xf32>
      return %y : tensor<?x4x512xf32>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$x, Optional<Resid_Tensor>:$gamma, Optional<Resid_Tensor>:$beta,
                       Optional<Resid_Scales>:$static_scale, // rms_norm.C1
                       Resid_F64Attr:$epsilon, OptionalAttr<Resid_I64Attr>:$norm_rank,
                       UnitAttr:$zero_centered_gamma, UnitAttr:$narrow_affine,
                       OptionalAttr<Resid_GranularityAttr>:$granularity, OptionalAttr<Resid_I64Attr>:$group);
  // The statistics are one (rstd) or absent.
  let results = (outs Resid_FloatsOrBytes:$result, Variadic<Resid_Statistics>:$statistics); // rms_norm.C1
  let assemblyFormat = [{
    $x (`gamma` `(` $gamma^ `)`)? (`beta` `(` $beta^ `)`)?
    (`quantize` `(` custom<Quantization>($granularity, $group, $static_scale, type($static_scale))^ `)`)? attr-dict `:`
    custom<NormTypes>(ref($gamma), ref($beta), type($x), type($gamma), type($beta), type($result), type($statistics))
  }];
  let builders = [
    // The result has the type of x.
    OpBuilder<(ins "::mlir::Value":$x, CArg<"::mlir::Value", "{}">:$gamma, CArg<"::mlir::Value", "{}">:$beta,
                   CArg<"double", "1.0e-5">:$epsilon, CArg<"bool", "false">:$withStatistics)>];
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// How many trailing dimensions are normalised: norm_rank, else gamma's rank, else 1.
    int64_t getNormalizedRank();
    /// One over the root mean square of each row; null where it was not asked for.
    Value getRstd() { return getStatistics().empty() ? Value() : getStatistics().front(); }
  }];
}

def Resid_L2NormOp : Resid_Op<"l2_norm", [AttrSizedOperandSegments,
                              DeclareOpInterfaceMethods<Resid_NormOpInterface>,
                              DeclareOpInterfaceMethods<Resid_QuantizedResultOpInterface, ["getUnquantizedTypes"]>,
                              DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "brings each row to length 1";
  let description = [{
    Brings each row to length 1, then applies γ and, where it is given, β. It is PyTorch's `normalize`, and what models
    with normalised queries and keys apply to them.

    **Formula.** `y = x/max(sqrt(Σx²), epsilon)·γ + β`. The sum is taken over the normalised dimensions.

    **Operands and results.**
    - `x`: `[…, D]`, of f16, bf16, f32 or f64. Every dimension may be dynamic.
    - `gamma`, optional: it has the last dimensions of `x`. A gamma of rank k normalises the last k, unless `norm_rank`
      says fewer.
    - `norm_rank`: how many dimensions are normalised, by default as many as gamma has, or 1 without gamma.
    - `beta`, optional: the shape of `gamma`.
    - `epsilon`: float attribute, always written: the least length that a row is divided by. C++ builders default to
      1e-12.
    - `zero_centered_gamma`: unit attribute. Multiplies by 1+γ instead of γ.
    - `narrow_affine`: unit attribute. Rounds the normalised value to the result's type before γ and β are applied.
    - result: the shape of `x`. Its element type may be narrower (`-> tensor<…xbf16>`), or i8
      (`-> tensor<…xi8>, tensor<…xf32>`). With i8, the op is the norm with a result of the type of `x`, and then
      [`resid.quantize`](quantize.md). The scale is the second result, unless it is an operand.
    - `quantize(row)`, `quantize(tensor)` or `quantize(group G)`, optional: what shares a scale, by default a row. A scale
      that was found before is an operand: `quantize(tensor scale %s : tensor<f32>)`.
    - `rstd`, optional: `1/max(sqrt(Σx²), epsilon)`. It has the shape of `x` without the normalised dimensions. Its type
      is f64 for f64, and f32 otherwise.

    **Constraints.**
    - `l2_norm.C1`: tensors are ranked, of f16, bf16, f32 or f64. Their types have no encoding, and they hold at most
      2^47 bytes. `x` and the result have rank 1 or more.
    - `l2_norm.C2`: the result has the shape of `x`, and its element type, a narrower one, or i8.
    - `l2_norm.C3`: epsilon is finite and not negative in the arithmetic type. A positive epsilon must not become 0
      there.
    - `l2_norm.C4`: at least 1 dimension of `x` is normalised, and at most all are.
    - `l2_norm.C5`: `norm_rank` is at most the rank of gamma.
    - `l2_norm.C6`: the dimensions of gamma agree with the last ones of `x`, in order. Two sizes agree where they are
      equal or one of them is dynamic.
    - `l2_norm.C7`: beta is given only with gamma. It has the rank of gamma, and its dimensions agree with those of `x`
      too.
    - `l2_norm.C8`: gamma and beta are of f64 only where `x` is.
    - `l2_norm.C9`: `zero_centered_gamma` and `narrow_affine` are given only with gamma.
    - `l2_norm.C10`: there is no statistic or one. It is of f64 for f64, and of f32 otherwise.
    - `l2_norm.C11`: with a result of i8, `x` is of f16, bf16 or f32, and the types of the results are those of
      `resid.quantize`, so that there are no statistics. Granularity and scale hold to `quantize.C2` and `quantize.C3`.
      The clause `quantize` is written with such a result only.

    **Not allowed.** The normalised dimensions are always the last ones. A dimension cannot be normalised without all
    dimensions after it.

    **Gradient.** Let `x̂ = x·rstd`, and `g` as in `resid.layer_norm`. Then `dx = rstd·(g - x̂·Σ(g·x̂))`, and in a row
    that is shorter than epsilon `dx = rstd·g`. `dγ = Σ dy·x̂` and `dβ = Σ dy`, summed over the rows. A result of i8 has none, as in `resid.quantize`.

    **Rounding.** The *arithmetic type* is f64 for f64, and f32 otherwise. All steps are computed in it. S is the
    ordered sum that [numerics](../numerics.md#the-ordered-sum-s) defines.
    1. `q = S(x²)`. The squares are added with fma.
    2. `rstd = 1/max(sqrt(q), epsilon)`, where the maximum is NaN if q is, and `x̂ = x·rstd`.
    3. `y = fma(x̂, γ, β)`, or `x̂·γ` without β, or `x̂` without γ. `y` is rounded once, to the result's type; with
       `narrow_affine`, x̂ is rounded to that type before. A zero-centred `1+γ` is rounded before it is used.
    4. If q is not finite although the row is, the row is done again on a [scaled copy](../numerics.md#formulas). So it
       is where epsilon is below 2^-50 and q below 2^-100.

    **Example.**
    ```mlir
    func.func @l2_norm(%x: tensor<?x16x64xf32>, %gamma: tensor<64xf32>)
        -> (tensor<?x16x64xf32>, tensor<?x16xf32>) {
      %n = resid.l2_norm %x gamma(%gamma) {epsilon = 1.0e-12}
           : tensor<?x16x64xf32>, tensor<64xf32>
      %y, %rstd = resid.l2_norm %n {epsilon = 1.0e-12}
          : tensor<?x16x64xf32> -> tensor<?x16x64xf32>, tensor<?x16xf32>
      return %y, %rstd : tensor<?x16x64xf32>, tensor<?x16xf32>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$x, Optional<Resid_Tensor>:$gamma, Optional<Resid_Tensor>:$beta,
                       Optional<Resid_Scales>:$static_scale, // l2_norm.C1
                       Resid_F64Attr:$epsilon, OptionalAttr<Resid_I64Attr>:$norm_rank,
                       UnitAttr:$zero_centered_gamma, UnitAttr:$narrow_affine,
                       OptionalAttr<Resid_GranularityAttr>:$granularity, OptionalAttr<Resid_I64Attr>:$group);
  // The statistics are one (rstd) or absent.
  let results = (outs Resid_FloatsOrBytes:$result, Variadic<Resid_Statistics>:$statistics); // l2_norm.C1
  let assemblyFormat = [{
    $x (`gamma` `(` $gamma^ `)`)? (`beta` `(` $beta^ `)`)?
    (`quantize` `(` custom<Quantization>($granularity, $group, $static_scale, type($static_scale))^ `)`)? attr-dict `:`
    custom<NormTypes>(ref($gamma), ref($beta), type($x), type($gamma), type($beta), type($result), type($statistics))
  }];
  let builders = [
    // The result has the type of x.
    OpBuilder<(ins "::mlir::Value":$x, CArg<"::mlir::Value", "{}">:$gamma, CArg<"::mlir::Value", "{}">:$beta,
                   CArg<"double", "1.0e-12">:$epsilon, CArg<"bool", "false">:$withStatistics)>];
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// How many trailing dimensions are normalised: norm_rank, else gamma's rank, else 1.
    int64_t getNormalizedRank();
    /// One over the length of each row; null where it was not asked for.
    Value getRstd() { return getStatistics().empty() ? Value() : getStatistics().front(); }
  }];
}

def Resid_DyTOp : Resid_Op<"dyt", [AttrSizedOperandSegments, DeclareOpInterfaceMethods<Resid_NormOpInterface>]> {
  let summary = "dynamic tanh, a norm without statistics";
  let description = [{
    Squashes each element with a scaled tanh, then applies γ and β. It stands in the place of a norm.

    **Formula.** `y = γ·tanh(α·x) + β`

    **Operands and results.**
    - `x`: `[…, D]`, of f16, bf16, f32 or f64. Every dimension may be dynamic.
    - `alpha`: `tensor<f32>`, or another of these float types.
    - `gamma`, optional: a gamma of rank k has the shape of the last k dimensions of `x`.
    - `beta`, optional: the shape of `gamma`.
    - `zero_centered_gamma`: unit attribute. Multiplies by 1+γ instead of γ.
    - `narrow_affine`: unit attribute. Rounds the tanh to the result's type before γ and β are applied.
    - result: the shape of `x`. Its element type may be narrower (`-> tensor<…xbf16>`).

    **Constraints.**
    - `dyt.C1`: tensors are ranked, of f16, bf16, f32 or f64. Their types have no encoding, and they hold at most 2^47
      bytes. `x` and the result have rank 1 or more.
    - `dyt.C2`: the result has the shape of `x`, and its element type or a narrower one.
    - `dyt.C3`: alpha has rank 0.
    - `dyt.C4`: gamma has a rank between 1 and that of `x`.
    - `dyt.C5`: the dimensions of gamma agree with the last ones of `x`, in order. Two sizes agree where they are equal or one of them is
      dynamic.
    - `dyt.C6`: beta is given only with gamma. It has the rank of gamma, and its dimensions agree with those of `x` too.
    - `dyt.C7`: alpha, gamma and beta are of f64 only where `x` is.
    - `dyt.C8`: `zero_centered_gamma` and `narrow_affine` are given only with gamma.

    **Not allowed.** There is no epsilon and there are no statistics, since nothing is summed over the row.

    **Gradient.** With `t = tanh(α·x)` and `g = dy·γ`: `dx = α·(1 - t²)·g`. `dα = Σ x·(1 - t²)·g`, summed over all
    elements. `dγ = Σ dy·t` and `dβ = Σ dy`, summed over the rows.

    **Rounding.** The *arithmetic type* is f64 for f64, and f32 otherwise. All steps are computed in it.
    `t = tanh(α·x)`. Then `y = fma(t, γ, β)`, or `t·γ` without β, or `t` without γ. `y` is rounded once, to the result's
    type. A zero-centred `1+γ` is rounded before it is used. tanh is a polynomial of resid's own.

    **Example.**
    ```mlir
    func.func @dyt(%x: tensor<?x768xf32>, %alpha: tensor<f32>, %gamma: tensor<768xf32>,
                   %beta: tensor<768xf32>) -> tensor<?x768xf32> {
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

    **Formula.** `y = (x - μ)/sqrt(var + epsilon)·γ + β`. The mean μ and the biased variance var are taken over the
    group of a feature, which has `D/groups` features. With one group this is layer norm. On `[N, C]` it is PyTorch's
    `GroupNorm`.

    **Operands and results.**
    - `x`: `[…, D]`, of f16, bf16, f32 or f64. Every dimension may be dynamic.
    - `gamma`, optional: `[D]`.
    - `beta`, optional: `[D]`.
    - `epsilon`: float attribute, always written. C++ builders default to 1e-5.
    - `groups`: how many groups there are. It divides D.
    - `zero_centered_gamma`: unit attribute. Multiplies by 1+γ instead of γ.
    - `narrow_affine`: unit attribute. Rounds the normalised value to the result's type before γ and β are applied.
    - result: the shape of `x`. Its element type may be narrower (`-> tensor<…xbf16>`).
    - `mean`, `mean_correction`, `rstd`: all three or none, of shape `[…, groups]`. Their type is f64 for f64, and f32
      otherwise. `(x - mean) - mean_correction` gives the centred group more exactly than the rounded mean alone.

    **Constraints.**
    - `group_norm.C1`: tensors are ranked, of f16, bf16, f32 or f64. Their types have no encoding, and they hold at most
      2^47 bytes. `x` and the result have rank 1 or more.
    - `group_norm.C2`: the result has the shape of `x`, and its element type or a narrower one.
    - `group_norm.C3`: epsilon is finite and not negative in the arithmetic type. A positive epsilon must not become 0
      there.
    - `group_norm.C4`: `groups` is 1 or more, and divides D. Where D is dynamic, a call with a D that it does not divide
      is answered `RESID_BAD_SHAPE`.
    - `group_norm.C5`: gamma has rank 1, and its size agrees with D. Two sizes agree where they are equal or one of them
      is dynamic.
    - `group_norm.C6`: beta is given only with gamma, has rank 1, and its size agrees with D.
    - `group_norm.C7`: gamma and beta are of f64 only where `x` is.
    - `group_norm.C8`: `zero_centered_gamma` and `narrow_affine` are given only with gamma.
    - `group_norm.C9`: there are no statistics or all three. Each is of f64 for f64, and of f32 otherwise.

    **Not allowed.** Groups lie along the last dimension only. They do not span rows.

    **Gradient.** As in `resid.layer_norm`, with the means taken over the groups.

    **Rounding.** Each group has the bits of a `resid.layer_norm` of that group alone. Columns are counted from the
    group's first one.

    **Example.**
    ```mlir
    func.func @group_norm(%x: tensor<?x768xf32>, %gamma: tensor<768xf32>, %beta: tensor<768xf32>)
        -> (tensor<?x768xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
      %n = resid.group_norm %x gamma(%gamma) beta(%beta) {epsilon = 1.0e-5, groups = 8}
           : tensor<?x768xf32>, tensor<768xf32>, tensor<768xf32>
      %y, %mean, %corr, %rstd = resid.group_norm %n {epsilon = 1.0e-5, groups = 8}
           : tensor<?x768xf32> -> tensor<?x768xf32>, tensor<?x8xf32>, tensor<?x8xf32>,
             tensor<?x8xf32>
      return %y, %mean, %corr, %rstd
          : tensor<?x768xf32>, tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
    }
    ```
  }];
  let arguments = (ins Resid_Rows:$x, Optional<Resid_Tensor>:$gamma, Optional<Resid_Tensor>:$beta, // group_norm.C1
                       Resid_F64Attr:$epsilon, Resid_I64Attr:$groups, UnitAttr:$zero_centered_gamma,
                       UnitAttr:$narrow_affine);
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
