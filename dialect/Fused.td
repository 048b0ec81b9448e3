// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family Fused: Add & Norm as one op.

#ifndef RESID_DIALECT_FUSED
#define RESID_DIALECT_FUSED

include "dialect/NormKinds.td"
include "dialect/QuantizedResult.td"

def Resid_AddNormOp : Resid_Op<"add_norm", [AttrSizedOperandSegments,
                               DeclareOpInterfaceMethods<Resid_QuantizedResultOpInterface, ["getUnquantizedTypes"]>,
                               DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "branch bias, dropout, gate and scales, residual add and norm in one op";
  let description = [{
    Joins what follows each branch of a Transformer: the branch's bias, dropout, a residual add with gate and scales,
    and a norm.

    **Formula.** The op means this sequence of single ops, its *expansion*. A clause may be absent, and then its step
    is left out:
    ```
    b          = add_bias f, bias
    d          = dropout b seed(seed, step) origin(origin_row, origin_site, origin_col)
                           extent(extent_local, extent_global) {p, site}
    sum        = add x, d gate(gate) skip(skip) also(also scale scale) {skip_scale, branch_scale}
    normalized = layer_norm | rms_norm | l2_norm | dyt | group_norm sum alpha(alpha) gamma(gamma) beta(beta) {epsilon, …}
    ```

    **Operands and results.**
    - the kind of norm, a keyword: `layer`, `rms`, `l2`, `dyt` or `group`.
    - `x`, the stream: `[…, D]`, of f16, bf16, f32 or f64. Every dimension may be dynamic.
    - `f`, the result of the branch: has the type of `x`.
    - `bias`, optional: `[D]`.
    - `gate`, `skip` and `also`, optional, with `skip_scale` and `branch_scale`: as in `resid.add`.
    - `seed`, `step`, `origin_row`, `origin_site`, `origin_col`, `extent_local`, `extent_global`, with the attributes
      `p` and `site`: as in `resid.dropout`.
    - `alpha` (for dyt), `gamma`, `beta`: as in the op of the norm.
    - `epsilon` (for layer, rms, l2 and group), `groups` (for group), `norm_rank`, `zero_centered_gamma`, `narrow_affine`:
      as in the op of the norm.
    - `normalized`: the shape of `x`. Its element type is that of the sum or a narrower one.
    - `sum`: the shape of `x`. Its element type is that of `x`. Where `x` is f16 or bf16, it may be f32 instead.
    - `normalized` may be of i8 too (`-> tensor<…xi8>, tensor<…xf32>, tensor<…xf32>`). Then the norm has the type of the
      sum, and [`resid.quantize`](quantize.md) follows. The scale is the last result, unless it is an operand.
    - `quantize(row)`, `quantize(tensor)` or `quantize(group G)`, optional: what shares a scale, by default a row. A scale
      that was found before is an operand: `quantize(tensor scale %s : tensor<f32>)`.
    - statistics, optional: `mean`, `mean_correction` and `rstd` for layer and group, `rstd` for rms and l2.

    A result without uses is not stored. Result types are written where one differs from that of `x`, and where
    statistics are asked for: `-> Tnormalized, Tsum, …`.

    **Constraints.**
    - `add_norm.C1`: tensors are ranked, of f16, bf16, f32 or f64. Their types have no encoding, and they hold at most
      2^47 bytes. `x`, `f`, `normalized` and `sum` have rank 1 or more.
    - `add_norm.C2`: `f` has the type of `x`.
    - `add_norm.C3`: the sum has the shape of `x`. Its element type is that of `x` or, for f16 and bf16, f32.
    - `add_norm.C4`: `normalized` has the shape of the sum, and its element type, a narrower one, or i8.
    - `add_norm.C5`: bias, alpha, gamma and beta are of f64 only where `x` is.
    - `add_norm.C6`: bias has rank 1, and its size agrees with the last dimension of `x`. Two sizes agree where they
      are equal or one of them is dynamic.
    - `add_norm.C7`: `seed`, `step`, `p` and `site` are given together.
    - `add_norm.C8`: `p` is in [0, 1].
    - `add_norm.C9`: `site` is in [0, 2^32).
    - `add_norm.C10`: `origin_row` and `origin_site` are given together, and only with a seed.
    - `add_norm.C11`: with a seed, the static sizes amount to at most 2^32 rows and 2^35 columns.
    - `add_norm.C12`: gate, skip and `also` hold to `add.C4`, `add.C5`, `add.C7` and `add.C8`.
    - `add_norm.C13`: both scales are finite in the arithmetic type.
    - `add_norm.C14`: alpha is given for dyt and for no other kind. It has rank 0.
    - `add_norm.C15`: epsilon is given for layer, rms, l2 and group, and not for dyt. It is finite and not negative in the
      arithmetic type. A positive epsilon must not become 0 there.
    - `add_norm.C16`: at least 1 dimension of `x` is normalised, and at most all are.
    - `add_norm.C17`: `norm_rank` may be left out. Written beside a gamma, it must equal the rank of gamma. For group,
      gamma has rank 1, and so `norm_rank` is 1.
    - `add_norm.C18`: the dimensions of gamma agree with the last ones of `x`, in order.
    - `add_norm.C19`: beta is given only with gamma. It has the rank of gamma, and its dimensions agree with those of
      `x` too.
    - `add_norm.C20`: `zero_centered_gamma` and `narrow_affine` are given only with gamma.
    - `add_norm.C21`: statistics are given all or not at all: three for layer and group, one for rms and l2. dyt has none.
      Their type is f64 if `x` is f64, else f32.
    - `add_norm.C22`: `groups` is given for group and for no other kind. It holds to `group_norm.C4`.
    - `add_norm.C23`: `origin_col` and the extent hold to `dropout.C7`, `dropout.C8` and `dropout.C9`.
    - `add_norm.C24`: with `normalized` of i8, the sum is of f16, bf16 or f32, and the types of `normalized` and its scale
      are those of `resid.quantize`, so that there are no statistics. Granularity and scale hold to `quantize.C2` and
      `quantize.C3`. The clause `quantize` is written with such a result only.

    **Not allowed.** The order of the steps is fixed. Write a norm on the branch, or dropout after the add, with the
    single ops.

    **Gradient.** As in the expansion. `sum` gets two gradients: dsum from the uses of the result, and dn from the
    norm. Their sum `t = dn + dsum` is what `resid.add` takes to `x`, gate, skip, `also` and branch. Bias and branch
    follow as in `resid.dropout` and `resid.add_bias`.

    **Rounding.** Every step of the expansion rounds to the type of its result, as its own page says. Bias and dropout
    round to the type of `f`. The add rounds to the type of the sum, before the statistics are taken. The norm rounds
    to the type of `normalized`. So fusing and expanding change no bit.

    **Example.**
    ```mlir
    func.func @add_norm(%x: tensor<?x768xf32>, %f: tensor<?x768xf32>, %bias: tensor<768xf32>,
                        %gate: tensor<768xf32>, %gamma: tensor<768xf32>, %beta: tensor<768xf32>,
                        %alpha: tensor<f32>, %seed: i64, %step: i64, %row: i64, %layer: i64)
        -> (tensor<?x768xf32>, tensor<?x768xf32>, tensor<?xf32>) {
      %n, %s = resid.add_norm layer %x, %f bias(%bias) dropout(%seed, %step) origin(%row, %layer)
               gate(%gate) gamma(%gamma) beta(%beta) {epsilon = 1.0e-5, p = 0.1, site = 3}
               : tensor<?x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<768xf32>,
                 tensor<768xf32>
      %m, %t = resid.add_norm dyt %s, %n alpha(%alpha) gamma(%gamma)
          : tensor<?x768xf32>, tensor<f32>, tensor<768xf32>
      %o, %u, %rstd = resid.add_norm rms %t, %m {epsilon = 1.0e-6}
               : tensor<?x768xf32> -> tensor<?x768xf32>, tensor<?x768xf32>, tensor<?xf32>
      return %o, %u, %rstd : tensor<?x768xf32>, tensor<?x768xf32>, tensor<?xf32>
    }
    ```
  }];
  let arguments = (ins Resid_NormKindAttr:$kind, Resid_Rows:$x, Resid_Rows:$f, Optional<Resid_Tensor>:$bias,
                       Optional<I64>:$seed, Optional<I64>:$step, Optional<I64>:$origin_row, Optional<I64>:$origin_site,
                       Optional<I64>:$origin_col, Optional<I64>:$extent_local, Optional<I64>:$extent_global,
                       Optional<Resid_Tensor>:$gate, Optional<Resid_Tensor>:$skip, Optional<Resid_Rows>:$also,
                       Optional<Resid_Tensor>:$also_scale, Optional<Resid_Tensor>:$alpha,
                       Optional<Resid_Tensor>:$gamma, Optional<Resid_Tensor>:$beta,
                       Optional<Resid_Scales>:$static_scale, // add_norm.C1
                       OptionalAttr<Resid_F64Attr>:$epsilon, OptionalAttr<Resid_F64Attr>:$p,
                       OptionalAttr<Resid_I64Attr>:$site, DefaultValuedAttr<Resid_F64Attr, "1.0">:$skip_scale,
                       DefaultValuedAttr<Resid_F64Attr, "1.0">:$branch_scale,
                       DefaultValuedAttr<Resid_I64Attr, "1">:$norm_rank,
                       OptionalAttr<Resid_I64Attr>:$groups, UnitAttr:$zero_centered_gamma, UnitAttr:$narrow_affine,
                       OptionalAttr<Resid_GranularityAttr>:$granularity, OptionalAttr<Resid_I64Attr>:$group);
  let results = (outs Resid_FloatsOrBytes:$normalized, Resid_Rows:$sum, Variadic<Resid_Statistics>:$statistics); // add_norm.C1
  let assemblyFormat = [{
    custom<Keyword>($kind) $x `,` $f (`bias` `(` $bias^ `)`)? (`dropout` `(` $seed^ `,` $step `)`)?
    (`origin` `(` $origin_row^ `,` $origin_site (`,` $origin_col^)? `)`)?
    (`extent` `(` $extent_local^ `,` $extent_global `)`)? (`gate` `(` $gate^ `)`)?
    (`skip` `(` $skip^ `)`)? (`also` `(` $also^ (`scale` $also_scale^)? `)`)? (`alpha` `(` $alpha^ `)`)? (`gamma` `(` $gamma^ `)`)? (`beta` `(` $beta^ `)`)?
    (`quantize` `(` custom<Quantization>($granularity, $group, $static_scale, type($static_scale))^ `)`)? attr-dict `:`
    custom<AddNormTypes>(ref($bias), ref($gate), ref($skip), ref($also), ref($also_scale), ref($alpha), ref($gamma),
                         ref($beta), type($x), type($f), type($bias), type($gate), type($skip), type($also),
                         type($also_scale), type($alpha), type($gamma), type($beta), type($normalized), type($sum),
                         type($statistics))
  }];
  let builders = [
    // Layer or RMS norm of x + f; the results have the type of x.
    OpBuilder<(ins "::mlir::resid::NormKind":$kind, "::mlir::Value":$x, "::mlir::Value":$f,
                   CArg<"::mlir::Value", "{}">:$gamma, CArg<"::mlir::Value", "{}">:$beta,
                   CArg<"double", "1.0e-5">:$epsilon)>];
  let hasCanonicalizeMethod = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// How many trailing dimensions are normalised: gamma's rank, else norm_rank.
    int64_t getNormalizedRank();
    /// Whether the dropout clause is there.
    bool hasDropout();
    /// T = round(p·65536), half away from zero: 0 is the identity, 65536 drops all. 0 without a dropout clause.
    int64_t getThreshold();
    /// The norm of the sum.
    ::mlir::resid::NormParts getNormParts();
    /// A row statistic; null where it was not asked for, or where this kind of norm does not have it.
    Value getStatistic(::mlir::resid::NormStatistic statistic);
    Value getMean() { return getStatistic(::mlir::resid::NormStatistic::Mean); }
    Value getMeanCorrection() { return getStatistic(::mlir::resid::NormStatistic::MeanCorrection); }
    Value getRstd() { return getStatistic(::mlir::resid::NormStatistic::Rstd); }
  }];
}

#endif
