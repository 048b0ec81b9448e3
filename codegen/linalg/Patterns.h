// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the families of the lowering offer each other and the pass: one populate function per family, and the formulas
// that fused ops share with single ones.

#ifndef RESID_CODEGEN_LINALG_PATTERNS_H
#define RESID_CODEGEN_LINALG_PATTERNS_H

#include "dialect/ResidDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::resid {

void populateResidualToLinalg(RewritePatternSet &patterns);
void populateNormToLinalg(RewritePatternSet &patterns);
void populateDropoutToLinalg(RewritePatternSet &patterns);
void populateFusedToLinalg(RewritePatternSet &patterns);

/// y = skip_scale·x + branch_scale·(gate ⊙ f), rounded to the result's element type once; gate may be null.
Value lowerAdd(ImplicitLocOpBuilder &builder, Value x, Value f, Value gate, const APFloat &skipScale,
               const APFloat &branchScale, Type resultType);

/// f + b along the feature axis.
Value lowerAddBias(ImplicitLocOpBuilder &builder, Value f, Value bias);

/// A dropout site: what its mask depends on. The origins may be null.
struct DropoutSite {
  Value seed, step, originRow, originSite;
  int64_t site;
  int64_t threshold;
};
Value lowerDropout(ImplicitLocOpBuilder &builder, Value x, const DropoutSite &site);

/// The part of a norm that follows x̂ and what its statistics need. gamma and beta may be null.
struct NormParameters {
  Value gamma, beta;
  int64_t normRank;
  bool zeroCenteredGamma, narrowAffine;
};

/// The normalised value, then mean, mean_correction and rstd where `withStatistics`.
SmallVector<Value> lowerLayerNorm(ImplicitLocOpBuilder &builder, Value x, const NormParameters &norm,
                                  const APFloat &epsilon, Type resultType, bool withStatistics);

/// The normalised value, then rstd where `withStatistics`.
SmallVector<Value> lowerRMSNorm(ImplicitLocOpBuilder &builder, Value x, const NormParameters &norm,
                                const APFloat &epsilon, Type resultType, bool withStatistics);

Value lowerDyT(ImplicitLocOpBuilder &builder, Value x, Value alpha, const NormParameters &norm, Type resultType);

} // namespace mlir::resid

#endif // RESID_CODEGEN_LINALG_PATTERNS_H
