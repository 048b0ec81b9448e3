// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family Fused: Add & Norm as one op.

#ifndef RESID_DIALECT_FUSED
#define RESID_DIALECT_FUSED

include "dialect/ResidBase.td"

def Resid_NormKind : I32EnumAttr<"NormKind", "kind of a norm", [
  I32EnumAttrCase<"Layer", 0, "layer">, I32EnumAttrCase<"RMS", 1, "rms">, I32EnumAttrCase<"DyT", 2, "dyt">]> {
  let cppNamespace = "::mlir::resid";
  let genSpecializedAttr = 0;
}
def Resid_NormKindAttr : EnumAttr<Resid_Dialect, Resid_NormKind, "norm_kind">;

def Resid_AddNormOp : Resid_Op<"add_norm", [AttrSizedOperandSegments]> {
  let summary = "branch bias, dropout, gate and scales, residual add and norm in one op";
  let description = [{
    Defined as its own expansion: add_bias, dropout, add, norm, each of which rounds to storage once.
  }];
  let arguments = (ins Resid_NormKindAttr:$kind, Resid_Tensor:$x, Resid_Tensor:$f, Optional<Resid_Tensor>:$bias,
                       Optional<I64>:$seed, Optional<I64>:$step, Optional<I64>:$origin_row, Optional<I64>:$origin_site,
                       Optional<Resid_Tensor>:$gate, Optional<Resid_Tensor>:$alpha, Optional<Resid_Tensor>:$gamma,
                       Optional<Resid_Tensor>:$beta,
                       OptionalAttr<F64Attr>:$epsilon, OptionalAttr<F64Attr>:$p, OptionalAttr<I64Attr>:$site,
                       DefaultValuedAttr<F64Attr, "1.0">:$skip_scale, DefaultValuedAttr<F64Attr, "1.0">:$branch_scale,
                       DefaultValuedAttr<I64Attr, "1">:$norm_rank, UnitAttr:$zero_centered_gamma,
                       UnitAttr:$narrow_affine);
  let results = (outs Resid_Tensor:$normalized, Resid_Tensor:$sum, Variadic<Resid_Statistics>:$statistics);
  let assemblyFormat = [{
    custom<Keyword>($kind) $x `,` $f (`bias` `(` $bias^ `)`)? (`dropout` `(` $seed^ `,` $step `)`)?
    (`origin` `(` $origin_row^ `,` $origin_site `)`)? (`gate` `(` $gate^ `)`)? (`alpha` `(` $alpha^ `)`)?
    (`gamma` `(` $gamma^ `)`)? (`beta` `(` $beta^ `)`)? attr-dict `:`
    custom<AddNormTypes>(ref($bias), ref($gate), ref($alpha), ref($gamma), ref($beta),
                         type($x), type($f), type($bias), type($gate), type($alpha), type($gamma), type($beta),
                         type($normalized), type($sum), type($statistics))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// How many trailing dimensions are normalised: gamma's rank, else norm_rank.
    int64_t getNormalizedRank();
    /// Whether the dropout clause is there.
    bool hasDropout();
    /// T = round(p·65536), half away from zero: 0 is the identity, 65536 drops all. 0 without a dropout clause.
    int64_t getThreshold();
    /// The row statistics; null where they were not asked for, or where this kind of norm has none.
    Value getMean();
    Value getMeanCorrection();
    Value getRstd();
  }];
}

#endif
