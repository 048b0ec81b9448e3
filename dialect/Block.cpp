// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifier of the family Block.

#include "dialect/AddParts.h"
#include "dialect/Placement.h"
#include "dialect/Shapes.h"
#include "dialect/Verification.h"

using namespace mlir;
using namespace mlir::resid;

/// The epsilon, the parameters and the rank of one norm.
static LogicalResult verifyNorm(BlockOp op, const NormParts &norm) {
  RankedTensorType x = op.getRowType();
  const NormRule &rule = getNormRule(norm.kind);
  FloatAttr epsilon = norm.epsilon;
  if (failed(verifyPresence(op, norm.kind, "epsilon", rule.hasEpsilon, static_cast<bool>(epsilon)))) // block.C4
    return failure();
  if (failed(verifyPresence(op, norm.kind, "groups", rule.hasGroups, static_cast<bool>(norm.groups)))) // block.C12
    return failure();
  if (norm.groups && !norm.groups.getType().isInteger(64)) // block.C12
    return op.emitOpError("expected groups of i64 but got ") << norm.groups;
  if (norm.groups && (failed(verifyGroups(op, x, norm.getGroupCount(), {norm.gamma, norm.beta})) || // block.C12
                      failed(verifyParameterShape(op, x, norm.gamma, /*rank=*/1, "gamma")) ||       // block.C12
                      failed(verifyNormRankAttribute(op, norm.normRank.getInt(), 1))))              // block.C12
    return failure();
  if (epsilon && !epsilon.getType().isF64()) // block.C4
    return op.emitOpError("expected epsilon of f64 but got ") << epsilon;
  if (epsilon && failed(verifyEpsilon(op, x.getElementType(), epsilon.getValue()))) // block.C4
    return failure();
  if (failed(verifyParameterShape(op, x, norm.alpha, /*rank=*/0, "alpha")) || // block.C5
      failed(verifyNormalizedRank(op, x, norm.rank)))                         // block.C5
    return failure();
  if ((norm.gamma || rule.isElementwise()) && // block.C5
      failed(verifyNormRankAttribute(op, norm.normRank.getInt(), norm.gamma ? norm.rank : 1)))
    return failure();
  if (failed(verifyTrailingShape(op, x, norm.gamma, "gamma")) ||                                     // block.C5
      failed(verifyBeta(op, x, norm.gamma, norm.beta)) ||                                            // block.C5
      failed(verifyGammaAttributes(op, norm.gamma, norm.zeroCenteredGamma, /*narrowAffine=*/false))) // block.C6
    return failure();
  return failure(llvm::any_of(normParameters, [&](const NormParameter &parameter) { // block.C9
    return failed(verifyParameterType(op, x, norm.*parameter.value, parameter.name));
  }));
}

/// How many norms there are, and how many parameters they have.
static LogicalResult verifyNormCount(BlockOp op) {
  size_t expected = getPlacementRule(op.getPlacement()).positions.size();
  if (op.getNorms().size() != expected) // block.C2
    return op.emitOpError("expected ") << expected << (expected == 1 ? " norm" : " norms") << " for placement "
                                       << stringifyPlacement(op.getPlacement()) << " but got " << op.getNorms().size();
  size_t parameters = 0;
  for (NormAttr norm : op.getNorms().getAsRange<NormAttr>())
    parameters += getParameterCount(norm);
  if (op.getNormParameters().size() != parameters) // block.C3
    return op.emitOpError("expected ") << parameters << " norm parameters but got " << op.getNormParameters().size();
  return success();
}

static LogicalResult verifyNorms(BlockOp op) {
  bool hasGamma = false;
  for (const NormParts &norm : getBlockNorms(op)) {
    if (failed(verifyNorm(op, norm)))
      return failure();
    hasGamma |= static_cast<bool>(norm.gamma);
  }
  if (op.getNarrowAffine() && !hasGamma) // block.C6
    return op.emitOpError("expected gamma beside narrow_affine but got none");
  return success();
}

RankedTensorType BlockOp::getRowType() { return getStreams() ? getStreamType(getX().getType()) : getX().getType(); }

/// How the sub-layer is connected to several streams.
static LogicalResult verifyConnection(BlockOp op) {
  RankedTensorType x = op.getX().getType();
  if (!op.getStreams()) {
    for (auto [value, name] : {std::pair(op.getReadWeights(), "weights of a read"),
                               std::pair(op.getWriteWeights(), "weights of a write"), std::pair(op.getMix(), "a mix")})
      if (value) // block.C14
        return op.emitOpError("expected ") << name << " only in a clause streams but got " << value.getType();
    if (!op.getReadScale().isExactlyValue(1.0)) // block.C14
      return op.emitOpError("expected read_scale only beside a clause streams but got ")
             << printFloat(op.getReadScale());
    return success();
  }
  if (failed(verifyStreams(op, x, "x"))) // block.C14
    return failure();
  if (int64_t count = x.getShape().end()[-2]; normalizesStream(op.getPlacement()) && count != 1) // block.C15
    return op.emitOpError("expected placement ")
           << listPlacementsOnStreams() << " beside " << count
           << " streams, since a norm of each stream does not commute with the read, but got "
           << stringifyPlacement(op.getPlacement());
  if (!op.getSkipScale().isExactlyValue(1.0)) // block.C16
    return op.emitOpError("expected no skip_scale beside streams, since the mix says what is kept, but got ")
           << printFloat(op.getSkipScale());
  for (auto [value, name] : {std::pair(op.getSkip(), "skip"), std::pair(op.getAlso(), "also")})
    if (value) // block.C16
      return op.emitOpError("expected no ")
             << name << " beside streams, since the mix says what is kept, but got " << value.getType();
  return failure(failed(verifyStreamWeights(op, x, op.getReadWeights())) ||                          // block.C14
                 failed(verifyParameterType(op, x, op.getReadWeights(), "weights of the read")) ||   // block.C14
                 failed(verifyScale(op, x.getElementType(), op.getReadScale(), "read_scale")) ||     // block.C14
                 failed(verifyStreamWeights(op, x, op.getWriteWeights())) ||                         // block.C14
                 failed(verifyParameterType(op, x, op.getWriteWeights(), "weights of the write")) || // block.C14
                 failed(verifyStreamMix(op, x, op.getMix(), /*isTransposed=*/false)));               // block.C14
}

SmallVector<Type> BlockOp::getUnquantizedTypes() { return {getX().getType()}; }

void BlockOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  if (getNumResults() == 1)
    return;
  setName(getResult(), "q");
  setName(getScale(), "scale");
}

LogicalResult BlockOp::verify() {
  if (!hasQuantizedResult(*this) && getResultTypes() != TypeRange(getX().getType())) // block.C1
    return emitOpError("expected a result of type ") << getX().getType() << " but got " << getResultTypes();
  if (failed(verifyNormCount(*this)) || failed(verifyConnection(*this)))
    return failure();
  RankedTensorType x = getRowType();
  DropoutClause dropout{getSeed(), getStep(), getDropoutOrigin(*this), getP(), getSite()};
  return failure(failed(verifyNorms(*this)) ||
                 failed(verifyDropoutClause(*this, dropout, x.getShape())) || // block.C7, block.C13
                 failed(verifyAddParts(*this, x, getAddParts(*this))));       // block.C8
}

LogicalResult BlockOp::verifyRegions() {
  RankedTensorType x = getRowType();
  Block &branch = getBranch().front();
  if (branch.getNumArguments() != 1) // block.C10
    return emitOpError("expected a branch with 1 argument but got ") << branch.getNumArguments();
  auto input = dyn_cast<RankedTensorType>(branch.getArgument(0).getType());
  bool mayNarrow = getNormAt(*this, NormPosition::BeforeBranch).has_value();
  bool narrows = input && mayNarrow && isa<FloatType>(input.getElementType()) &&
                 input.getElementTypeBitWidth() < x.getElementTypeBitWidth();
  if (!input || input.getShape() != x.getShape() || input.getEncoding() ||
      (input.getElementType() != x.getElementType() && !narrows)) // block.C10
    return emitOpError("expected a branch that takes ")
           << x << (mayNarrow ? " or a narrower element type" : "") << " but got " << branch.getArgument(0).getType();
  auto yield = dyn_cast<YieldOp>(branch.getTerminator());
  if (!yield) // block.C11
    return emitOpError("expected a branch that ends in resid.yield but got ") << branch.getTerminator()->getName();
  if (yield.getBranch().getType() != x) // block.C11
    return emitOpError("expected a branch that yields ") << x << " but got " << yield.getBranch().getType();
  return success();
}
