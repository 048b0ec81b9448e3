// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builders, verifier, canonical forms and helpers of the family Fused.

#include "dialect/AddParts.h"
#include "dialect/Canonical.h"
#include "dialect/Verification.h"

using namespace mlir;
using namespace mlir::resid;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

int64_t AddNormOp::getNormalizedRank() {
  if (getGamma())
    return cast<RankedTensorType>(getGamma().getType()).getRank();
  return getNormRank();
}

bool AddNormOp::hasDropout() { return static_cast<bool>(getSeed()); }

int64_t AddNormOp::getThreshold() { return hasDropout() ? getDropoutThreshold(getP()->convertToDouble()) : 0; }

SmallVector<Type> AddNormOp::getUnquantizedTypes() { return {getSum().getType(), getSum().getType()}; }

NormParts AddNormOp::getNormParts() {
  return {getKind(),         getSum(),           getAlpha(),
          getGamma(),        getBeta(),          getEpsilonAttr(),
          getNormRankAttr(), getGroupsAttr(),    getZeroCenteredGamma(),
          getNarrowAffine(), getNormalizedRank()};
}

Value AddNormOp::getStatistic(NormStatistic statistic) {
  ArrayRef<NormStatistic> statistics = getNormRule(getKind()).statistics;
  const NormStatistic *found = llvm::find(statistics, statistic);
  // The count is wrong where the op was not verified.
  if (found == statistics.end() || hasQuantizedResult(*this) || getStatistics().size() != statistics.size())
    return Value();
  return getStatistics()[found - statistics.begin()];
}

void AddNormOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getNormalized(), "normalized");
  setName(getSum(), "sum");
  for (NormStatistic statistic : getNormRule(getKind()).statistics)
    if (Value value = getStatistic(statistic))
      setName(value, stringifyNormStatistic(statistic));
}

void AddNormOp::build(OpBuilder &builder, OperationState &state, NormKind kind, Value x, Value f, Value gamma,
                      Value beta, double epsilon) {
  assert(!getNormRule(kind).hasAlpha && getNormRule(kind).hasEpsilon && !getNormRule(kind).hasGroups &&
         "a norm with an epsilon alone");
  FloatAttr one = builder.getF64FloatAttr(1.0);
  build(builder, state, x.getType(), x.getType(), /*statistics=*/TypeRange(),
        NormKindAttr::get(builder.getContext(), kind), x, f, /*bias=*/Value(), /*seed=*/Value(), /*step=*/Value(),
        /*origin_row=*/Value(), /*origin_site=*/Value(), /*origin_col=*/Value(), /*extent_local=*/Value(),
        /*extent_global=*/Value(), /*gate=*/Value(), /*skip=*/Value(), /*also=*/Value(), /*also_scale=*/Value(),
        /*alpha=*/Value(), gamma, beta, /*static_scale=*/Value(), builder.getF64FloatAttr(epsilon),
        /*p=*/FloatAttr(), /*site=*/IntegerAttr(), /*skip_scale=*/one,
        /*branch_scale=*/one, builder.getI64IntegerAttr(1), /*groups=*/IntegerAttr(),
        /*zero_centered_gamma=*/UnitAttr(), /*narrow_affine=*/UnitAttr(), GranularityAttr(), /*group=*/IntegerAttr());
}

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

/// x, f, both results and the element types of the parameters.
static LogicalResult verifyTypes(AddNormOp op) {
  RankedTensorType x = op.getX().getType();
  RankedTensorType sum = op.getSum().getType();
  return failure(failed(verifyBranchType(op, x, op.getF().getType())) ||                              // add_norm.C2
                 failed(verifySumType(op, x, sum, "sum")) ||                                          // add_norm.C3
                 failed(verifyNormalizedType(op, sum, op.getNormalized().getType(), "normalized")) || // add_norm.C4
                 failed(verifyParameterType(op, x, op.getBias(), "bias")) ||                          // add_norm.C5
                 failed(verifyParameterType(op, x, op.getAlpha(), "alpha")) ||                        // add_norm.C5
                 failed(verifyParameterType(op, x, op.getGamma(), "gamma")) ||                        // add_norm.C5
                 failed(verifyParameterType(op, x, op.getBeta(), "beta")));                           // add_norm.C5
}

/// The dropout clause and its attributes.
static LogicalResult verifyDropout(AddNormOp op) {
  DropoutClause clause{op.getSeed(), op.getStep(), getDropoutOrigin(op), op.getP(), op.getSite()};
  // add_norm.C7, add_norm.C8, add_norm.C9, add_norm.C10, add_norm.C11, add_norm.C23
  return verifyDropoutClause(op, clause, op.getX().getType().getShape());
}

/// What the kind of norm asks for: alpha or epsilon, and how many dimensions are normalised.
static LogicalResult verifyKind(AddNormOp op) {
  RankedTensorType x = op.getX().getType();
  const NormRule &rule = getNormRule(op.getKind());
  auto verifyGiven = [&](StringRef name, bool isExpected, bool isPresent) {
    return verifyPresence(op, op.getKind(), name, isExpected, isPresent);
  };
  if (failed(verifyGiven("alpha", rule.hasAlpha, static_cast<bool>(op.getAlpha()))) || // add_norm.C14
      failed(verifyGiven("epsilon", rule.hasEpsilon, op.getEpsilon().has_value())) ||  // add_norm.C15
      failed(verifyGiven("groups", rule.hasGroups, op.getGroups().has_value())))       // add_norm.C22
    return failure();
  if (failed(verifyParameterShape(op, x, op.getAlpha(), /*rank=*/0, "alpha"))) // add_norm.C14
    return failure();
  if (op.getEpsilon() && failed(verifyEpsilon(op, x.getElementType(), *op.getEpsilon()))) // add_norm.C15
    return failure();
  if (!op.getGamma() && rule.isElementwise())
    return verifyNormRankAttribute(op, op.getNormRank(), 1);       // add_norm.C17
  if (failed(verifyNormalizedRank(op, x, op.getNormalizedRank()))) // add_norm.C16
    return failure();
  if (rule.hasGroups)
    return failure(failed(verifyGroups(op, x, *op.getGroups(), {op.getGamma(), op.getBeta()})) || // add_norm.C22
                   failed(verifyParameterShape(op, x, op.getGamma(), /*rank=*/1, "gamma")) ||     // add_norm.C17
                   failed(verifyNormRankAttribute(op, op.getNormRank(), 1)));                     // add_norm.C17
  return op.getGamma() ? verifyNormRankAttribute(op, op.getNormRank(), op.getNormalizedRank())    // add_norm.C17
                       : success();
}

LogicalResult AddNormOp::verify() {
  RankedTensorType x = getX().getType();
  if (failed(verifyTypes(*this)) || failed(verifyDropout(*this)) || failed(verifyKind(*this)))
    return failure();
  return failure(
      failed(verifyParameterShape(*this, x, getBias(), /*rank=*/1, "bias")) || // add_norm.C6
      failed(verifyAddParts(*this, x, getAddParts(*this))) ||                  // add_norm.C12, add_norm.C13
      failed(verifyTrailingShape(*this, x, getGamma(), "gamma")) ||            // add_norm.C18
      failed(verifyBeta(*this, x, getGamma(), getBeta())) ||                   // add_norm.C19
      failed(verifyGammaAttributes(*this, getGamma(), getZeroCenteredGamma(),  // add_norm.C20
                                   getNarrowAffine())) ||
      failed(verifyStatistics(*this, getSum().getType(), getNormParts(), getStatistics().getTypes()))); // add_norm.C21
}

//===----------------------------------------------------------------------===//
// Canonical forms
//===----------------------------------------------------------------------===//

/// 1·f = f for every f, as AddOp::canonicalize.
static bool leaveOutGate(AddNormOp op, PatternRewriter &rewriter) {
  if (!isIdentityGate(op.getGate(), op.getX().getType()))
    return false;
  rewriter.modifyOpInPlace(op, [&] { op.getGateMutable().clear(); });
  return true;
}

LogicalResult AddNormOp::canonicalize(AddNormOp op, PatternRewriter &rewriter) {
  bool changed = leaveOutDropout(op, rewriter);
  changed |= leaveOutGate(op, rewriter);
  return success(succeeded(leaveOutStatistics(op, rewriter)) || changed);
}
