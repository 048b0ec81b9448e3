// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builders, verifier, fold and numbers of the family Dropout.

#include "dialect/ResidDialect.h"
#include "dialect/Verification.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace mlir::resid;

int64_t resid::getDropoutThreshold(double p) { return std::llround(p * 65536.0); }

double resid::getDropoutScale(int64_t threshold) {
  if (threshold == dropoutDropsAll)
    return 0.0;
  return 65536.0 / static_cast<double>(dropoutDropsAll - threshold);
}

int64_t DropoutOp::getThreshold() { return getDropoutThreshold(getP().convertToDouble()); }

void DropoutOp::build(OpBuilder &builder, OperationState &state, Value x, Value seed, Value step, double p,
                      int64_t site, const DropoutOrigin &origin) {
  build(builder, state, x.getType(), x, seed, step, origin.row, origin.site, origin.col, origin.local, origin.global,
        builder.getF64FloatAttr(p), builder.getI64IntegerAttr(site));
}

LogicalResult DropoutOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  types.push_back(adaptor.getX().getType());
  return success();
}

LogicalResult DropoutOp::verify() {
  ArrayRef<int64_t> shape = getX().getType().getShape();
  return failure(failed(verifyProbability(*this, getP())) ||    // dropout.C3
                 failed(verifySite(*this, getSite())) ||        // dropout.C4
                 failed(verifyRandomPositions(*this, shape)) || // dropout.C6
                 failed(verifyOrigin(*this, getDropoutOrigin(*this),
                                     shape.back()))); // dropout.C5, dropout.C7, dropout.C8, dropout.C9
}

/// As verifyOrigin, of any op with a dropout.
static LogicalResult verifyOriginOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<DropoutOp, AddNormOp, BlockOp>([](auto dropout) {
        return verifyOrigin(dropout, getDropoutOrigin(dropout), dropout.getX().getType().getShape().back());
      })
      .Case<AttentionOp, AttentionGradOp>([](auto attention) {
        return verifyOrigin(attention, getDropoutOrigin(attention), attention.getK().getType().getDimSize(2));
      })
      .Default(success());
}

bool resid::hasOriginOutOfRange(Operation *root) {
  ScopedDiagnosticHandler quiet(root->getContext(), [](Diagnostic &) { return success(); });
  auto visit = [](Operation *op) {
    return failed(verifyOriginOf(op)) ? WalkResult::interrupt() : WalkResult::advance();
  };
  return root->walk(visit).wasInterrupted();
}

OpFoldResult DropoutOp::fold(FoldAdaptor) {
  // T = 0 keeps every element and scales by 65536/65536. T = 65536 is zeros only in training, which is not known here.
  if (getThreshold() == 0)
    return getX();
  return {};
}
