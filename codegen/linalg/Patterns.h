// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the families of the lowering offer each other and the pass: one populate function per family, and the formulas
// that fused ops share with single ones.

#ifndef RESID_CODEGEN_LINALG_PATTERNS_H
#define RESID_CODEGEN_LINALG_PATTERNS_H

#include "codegen/builder/Code.h"
#include "dialect/AddParts.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::resid {

void populateResidualToLinalg(RewritePatternSet &patterns);
void populateNormToLinalg(RewritePatternSet &patterns);
void populateDropoutToLinalg(RewritePatternSet &patterns);
void populateFusedToLinalg(RewritePatternSet &patterns);
void populateAttentionToLinalg(RewritePatternSet &patterns);
void populateSubLayersToLinalg(RewritePatternSet &patterns);
void populateRotaryToLinalg(RewritePatternSet &patterns);
void populateGradToLinalg(RewritePatternSet &patterns);
void populateScalarGradToLinalg(RewritePatternSet &patterns);
void populateBatchNormToLinalg(RewritePatternSet &patterns);
void populateCrossEntropyToLinalg(RewritePatternSet &patterns);
void populateEmbeddingToLinalg(RewritePatternSet &patterns);
void populateStreamsToLinalg(RewritePatternSet &patterns);
void populateProjectionToLinalg(RewritePatternSet &patterns);
void populateSinkhornToLinalg(RewritePatternSet &patterns);
void populateQuantizeToLinalg(RewritePatternSet &patterns);

/// Turns cf.assert into rows.require, and requires that the steps of loops go forward. An error where an assertion
/// stands in an operation that has no place for a status.
LogicalResult lowerConditions(Operation *root);

/// Requires that what linalg ops look up in tensors (`tensor.extract`) lies in them, where it does not follow from
/// sizes and loops.
LogicalResult requireLookups(Operation *root);

/// The index, or 0 where it lies outside; marked (rows::kKeptInsideAttribute), since devices go on without the check.
Value keepInside(Code &builder, Value isInside, Value index);

/// Requires 0 <= id < size of each id of a tensor, or that it is `other` where that is given.
void requireIds(Code &builder, Value ids, Value size, std::optional<int64_t> other, StringRef text);

/// Requires the same of slices and elements that are taken from tensors, or put into them, outside of linalg ops.
void requireSlices(Operation *root);

/// The sum of x, f and what `parts` add, by the steps of resid.add, rounded to the result's element type once.
Value lowerAdd(Code &builder, Value x, Value f, const AddParts &parts, Type resultType);

/// f + b along the feature axis.
Value lowerAddBias(Code &builder, Value f, Value bias);

/// A dropout site: what its mask depends on.
struct DropoutSite {
  Value seed, step;
  DropoutOrigin origin;
  int64_t site;
  int64_t threshold;
};
Value lowerDropout(Code &builder, Value x, const DropoutSite &site);

/// What the counters of a site have in common beside the step (i64): its first row and its site; where they are given,
/// the call of the first column, and the extent.
struct DropoutWords {
  Value row, site, call, local, global;
};
/// Requires that they, the step, and as many rows and columns as `sizes` amount to, fit into the counters.
DropoutWords lowerDropoutWords(Code &builder, const DropoutSite &site, ArrayRef<OpFoldResult> sizes);

/// The normalised value of `norm.x`, then the statistics of its kind where `withStatistics`.
SmallVector<Value> lowerNorm(Code &builder, const NormParts &norm, Type resultType, bool withStatistics);

/// Requires that the number of groups divides the features of x, where that is known at run time only.
void requireWholeGroups(Code &builder, Value x, int64_t groups);

/// The type whose last dimension is split into groups.
RankedTensorType getGroupedType(Type type, int64_t groups);

/// The tensor with its last dimension split into groups; null stays null. And back, to that type.
Value splitGroups(Code &builder, Value tensor, int64_t groups);
Value joinGroups(Code &builder, Value tensor, Type type);

/// Notes that a reshape splits rows into the groups of a norm, or joins them, for resid-absorb-group-reshapes.
void markGroupReshape(Operation *reshape);

} // namespace mlir::resid

#endif // RESID_CODEGEN_LINALG_PATTERNS_H
