// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Family Norm: layer norm, RMS norm, dynamic tanh.

#ifndef RESID_DIALECT_NORM
#define RESID_DIALECT_NORM

include "dialect/ResidBase.td"

def Resid_LayerNormOp : Resid_Op<"layer_norm", [AttrSizedOperandSegments]> {
  let summary = "layer norm over the last dimensions";
  let description = [{
    y = (x-μ)/sqrt(var+epsilon)·γ+β with the biased variance.
  }];
  let arguments = (ins Resid_Tensor:$x, Optional<Resid_Tensor>:$gamma, Optional<Resid_Tensor>:$beta,
                       F64Attr:$epsilon, DefaultValuedAttr<I64Attr, "1">:$norm_rank,
                       UnitAttr:$zero_centered_gamma, UnitAttr:$narrow_affine);
  // The statistics are all present (mean, mean_correction, rstd) or all absent.
  let results = (outs Resid_Tensor:$result, Variadic<Resid_Statistics>:$statistics);
  let assemblyFormat = [{
    $x (`gamma` `(` $gamma^ `)`)? (`beta` `(` $beta^ `)`)? attr-dict `:`
    custom<NormTypes>(ref($gamma), ref($beta), type($x), type($gamma), type($beta), type($result), type($statistics))
  }];
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

def Resid_RMSNormOp : Resid_Op<"rms_norm", [AttrSizedOperandSegments]> {
  let summary = "root-mean-square norm over the last dimensions";
  let description = [{
    y = x/sqrt(mean(x²)+epsilon)·γ (+β).
  }];
  let arguments = (ins Resid_Tensor:$x, Optional<Resid_Tensor>:$gamma, Optional<Resid_Tensor>:$beta,
                       F64Attr:$epsilon, DefaultValuedAttr<I64Attr, "1">:$norm_rank,
                       UnitAttr:$zero_centered_gamma, UnitAttr:$narrow_affine);
  // The statistics are one (rstd) or absent.
  let results = (outs Resid_Tensor:$result, Variadic<Resid_Statistics>:$statistics);
  let assemblyFormat = [{
    $x (`gamma` `(` $gamma^ `)`)? (`beta` `(` $beta^ `)`)? attr-dict `:`
    custom<NormTypes>(ref($gamma), ref($beta), type($x), type($gamma), type($beta), type($result), type($statistics))
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// How many trailing dimensions are normalised: gamma's rank, else norm_rank.
    int64_t getNormalizedRank();
    /// One over the root mean square of each row; null where it was not asked for.
    Value getRstd() { return getStatistics().empty() ? Value() : getStatistics().front(); }
  }];
}

def Resid_DyTOp : Resid_Op<"dyt", [AttrSizedOperandSegments]> {
  let summary = "dynamic tanh, a norm without statistics";
  let description = [{
    y = γ·tanh(α·x)+β, alpha a 0-d tensor.
  }];
  let arguments = (ins Resid_Tensor:$x, Resid_Tensor:$alpha, Optional<Resid_Tensor>:$gamma, Optional<Resid_Tensor>:$beta,
                       UnitAttr:$zero_centered_gamma, UnitAttr:$narrow_affine);
  let results = (outs Resid_Tensor:$result);
  let assemblyFormat = [{
    $x `alpha` `(` $alpha `)` (`gamma` `(` $gamma^ `)`)? (`beta` `(` $beta^ `)`)? attr-dict `:`
    custom<DyTTypes>(ref($gamma), ref($beta), type($x), type($alpha), type($gamma), type($beta), type($result))
  }];
  let hasVerifier = 1;
}

#endif
