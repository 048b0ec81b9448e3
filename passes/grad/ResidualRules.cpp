// Part of resid, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of the family Residual and of dropout. None has a backward op: their adjoints are ops already.

#include "dialect/AddParts.h"
#include "mlir/IR/IRMapping.h"
#include "passes/grad/Rules.h"

using namespace mlir;
using namespace mlir::resid;

namespace {

/// dx = skip ⊙ dy, df = branch_scale·(gate ⊙ dy), dalso = scale ⊙ dy, and for each of the factors a sum: dgate =
/// Σ branch_scale·(f ⊙ dy), dskip = Σ x ⊙ dy, dscale = Σ also ⊙ dy. What a factor scales is a value of the forward only
/// for that sum.
struct AddRule : GradientOpInterface::ExternalModel<AddRule, AddOp> {
  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    auto add = cast<AddOp>(op);
    AddParts parts = getAddParts(add);
    FloatAttr one = gradients.getBuilder().getF64FloatAttr(1.0);
    addTerm(gradients, add, add.getX(), parts.skip, parts.skipScale);
    addTerm(gradients, add, add.getF(), parts.gate, parts.branchScale);
    if (parts.also)
      addTerm(gradients, add, parts.also, parts.alsoScale, one);
    return success();
  }

  /// The gradients of one term scale·(factor ⊙ value) of the sum.
  void addTerm(Gradients &gradients, AddOp add, Value value, Value factor, FloatAttr scale) const {
    Value dy = gradients.get(add.getResult());
    ImplicitLocOpBuilder &builder = gradients.getBuilder();
    Type element = getElementTypeOrSelf(value.getType());
    if (gradients.isNeeded(value))
      gradients.add(value, createScaled(builder, dy, gradients.getPrimal(factor), scale.getValue(), element));
    if (gradients.isNeeded(factor))
      gradients.add(factor, GateGradOp::create(builder, factor.getType(), dy, gradients.getPrimal(value), scale));
  }
};

/// df = dy, dbias = Σ dy over the rows.
struct AddBiasRule : GradientOpInterface::ExternalModel<AddBiasRule, AddBiasOp> {
  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    auto add = cast<AddBiasOp>(op);
    Value dy = gradients.get(add.getResult());
    gradients.add(add.getF(), dy);
    if (gradients.isNeeded(add.getBias()))
      gradients.add(add.getBias(),
                    createColumnSum(gradients.getBuilder(), dy, cast<RankedTensorType>(add.getBias().getType())));
    return success();
  }
};

/// dx = dropout(dy), with the mask of the same site, computed again.
struct DropoutRule : GradientOpInterface::ExternalModel<DropoutRule, DropoutOp> {
  LogicalResult differentiate(Operation *op, Gradients &gradients) const {
    IRMapping mapping;
    for (Value operand : op->getOperands().drop_front())
      mapping.map(operand, gradients.getPrimal(operand));
    auto drop = cast<DropoutOp>(op);
    mapping.map(drop.getX(), gradients.get(drop.getResult()));
    gradients.add(drop.getX(), gradients.getBuilder().clone(*op, mapping)->getResult(0));
    return success();
  }
};

} // namespace

void resid::registerResidualRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ResidDialect *) {
    AddOp::attachInterface<AddRule>(*context);
    AddBiasOp::attachInterface<AddBiasRule>(*context);
    DropoutOp::attachInterface<DropoutRule>(*context);
  });
}
